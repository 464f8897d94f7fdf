/**
 * A call comes to a status; a mistake in assembling throws an `AlliumError`. Messages say who,
 * which, expected and got, and never hold an argument's value.
 */

import type { ToolResult } from './result.ts';

/** Every code with its meaning. `docs/errors.md` is held to this table by a test. */
export const ERROR_CODES = Object.freeze({
  ERR_INVALID_OPTION:
    'An option of a layer or a function is missing, misspelt or of the wrong type.',
  ERR_INVALID_LAYER:
    'A member of a stack is neither a layer nor a function, or a layer is badly formed.',
  ERR_LAYER_ORDER: 'Two layers stand in an order that would do harm.',
  ERR_INVALID_TOOL: 'A tool definition is badly formed.',
  ERR_DUPLICATE_TOOL: 'Two tools of a registry have the same name.',
  ERR_UNKNOWN_TOOL: 'A tool was asked for that is not there.',
  ERR_INVALID_TRANSFORM:
    'A schema transform answered with something that is neither a tool nor null.',
  ERR_SCHEMA_UNSUPPORTED:
    'A JSON Schema is refused: too large, too deep, too costly, remote, or not valid.',
  ERR_INVALID_ARGS: 'The arguments of a call do not fit the schema that was advertised.',
  ERR_INVALID_STATUS: 'A result was built with a status that contradicts it.',
  ERR_INVALID_CALL: 'A call was passed on that the framework did not make.',
  ERR_NOT_JSON: 'A value cannot be written as JSON.',
  ERR_CALL_REFUSED: 'A layer that was told to raise refused a call.',
  ERR_NO_EXECUTOR: 'A tool has neither an execute function nor an executor to run it.',
  ERR_CLOSED: 'A call was made after close().',
  ERR_NO_CODE_GENERATION:
    'This runtime forbids code that is made from strings, and schemas are compiled to code.',
  ERR_MISSING_PACKAGE: 'An optional package is needed that is not installed.',
  ERR_ALREADY_RUNNING: 'Something was started that runs in this process already.',
  ERR_RECEIPTS_UNAVAILABLE: 'Receipts could not be written.',
  ERR_STORE_FULL:
    'A store has no room for another record, in all or for the session that wants it. It kept what it had.',
  ERR_UNSAFE_FILE:
    'A file or folder that holds state is a link, a pipe or a device, or belongs to other users. The message names it.',
  ERR_APPROVALS_UNAVAILABLE: 'The store that keeps approvals failed.',
  ERR_UNKNOWN_APPROVAL: 'An approval was named that is not there.',
  ERR_INVALID_DECISION: 'A decision about an approval is badly formed. The approval still waits.',
  ERR_APPROVAL_PENDING: 'A call was to be resumed that is not decided yet.',
  ERR_APPROVAL_RESOLVED: 'An approval was answered before, or its call was resumed.',
  ERR_APPROVAL_EXPIRED: 'An approval came too late.',
  ERR_APPROVAL_CODE:
    'A code is not the one of the approval, or was tried too often. The approval still waits.',
  ERR_RECORDING_UNAVAILABLE: 'Calls could not be written to a recording.',
  ERR_INVALID_RECORDING: 'A file that was given as a recording is not one.',
  ERR_UNUSED_ANSWERS: 'A replay was closed before every recorded answer was asked for.',
  ERR_INVALID_CONFIG: 'A file that describes a stack is missing, unreadable or wrong.',
  ERR_INVALID_ARTIFACT:
    'A project has no such folder, or a Markdown file of it that describes tools or hooks is wrong.',
  ERR_CLIENT_CONFIG:
    'The configuration of an MCP client cannot be read, is not understood, or cannot be replaced. It was not changed.',
  ERR_INVALID_SCENARIO: 'A scenario file is missing, unreadable, wrong, or could not fail.',
  ERR_JAIL: 'A path was refused by a jail, or what it names cannot be reached inside it.',
  ERR_ADDRESS_REFUSED: 'A host name leads to an address that must not be reached.',
  ERR_MCP_UNAVAILABLE: 'An MCP server could not be started, reached or understood.',
  ERR_HOST_BRIDGE:
    'A host could not be connected to: it has gone, did not answer in time, or does not speak the protocol.',
  ERR_STARLARK: 'A script could not be read, failed, or was stopped at a limit.',
  ERR_SUBJECT: 'What the conformance suite was run on broke, did not answer, or is no subject.',
} as const);

export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * The only fields an error may carry besides its code and message. None of them holds what a model
 * or a tool sent.
 */
export interface ErrorDetails {
  readonly layer?: string;
  readonly option?: string;
  readonly expected?: string;
  readonly got?: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly status?: string;
  readonly path?: string;
  /** Which of the reasons its code can have: snake_case, from a fixed list. */
  readonly reason?: string;
  /** When there may be room again, where that is known. */
  readonly retryAfterMs?: number;
  /** Of a script: which way it ended, and where. */
  readonly kind?: string;
  readonly line?: number;
  readonly column?: number;
  readonly traceback?: readonly TracebackLine[];
  /** Everything that is wrong with tool files and configuration files. */
  readonly problems?: readonly FileProblem[];
}

/** One open call of a script. */
export interface TracebackLine {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a file, and where: lines and columns are counted from 1. */
export interface FileProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly rule: string;
  readonly message: string;
}

/** The mark of these errors, the same in every copy of the package that an application has. */
const MARK = Symbol.for('allium.error');

export class AlliumError extends Error {
  override readonly name = 'AlliumError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** The refused call's result, where a call was refused by raising. Not serialised. */
  declare readonly result?: ToolResult;

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
    hidden: { cause?: unknown; result?: ToolResult } = {},
  ) {
    super(message, 'cause' in hidden ? { cause: hidden.cause } : undefined);
    this.code = code;
    this.details = Object.freeze({ ...details });
    if (hidden.result !== undefined)
      Object.defineProperty(this, 'result', { value: hidden.result });
  }

  get [MARK](): true {
    return true;
  }

  toJSON(): { name: string; code: ErrorCode; message: string } & ErrorDetails {
    return { name: this.name, code: this.code, message: this.message, ...this.details };
  }
}

/**
 * Whether a value is an error of the package, of this copy or another one. Who throws it says so
 * itself: what hangs on it is not to be trusted more than its message.
 */
export function isAlliumError(value: unknown, code?: ErrorCode): value is AlliumError {
  // A revoked proxy throws when it is asked what it is.
  try {
    if (!(value instanceof Error) || !(MARK in value)) return false;
    return code === undefined || (value as AlliumError).code === code;
  } catch {
    return false;
  }
}

const MAX_DESCRIPTION = 500;

/**
 * One line about anything that can be thrown, hostile proxies included. Reads the message and
 * nothing else: the other fields of an HTTP error hold its token.
 */
export function describeThrown(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return textOr(thrown, 'threw an empty string');
    if (typeof thrown !== 'object' || thrown === null)
      return `threw ${thrown === null ? 'null' : typeof thrown}`;
    const message: unknown = 'message' in thrown ? thrown.message : undefined;
    return textOr(typeof message === 'string' ? message : '', 'threw an object without a message');
  } catch {
    return 'threw something that cannot be read';
  }
}

function textOr(text: string, otherwise: string): string {
  const line = oneLine(text);
  return line === '' ? otherwise : line;
}

const PLAIN = /^[\w.-]{1,128}$/;

/** Control and format characters could forge lines in a log or hide text from a reader. */
export function oneLine(text: string): string {
  if (PLAIN.test(text)) return text;
  const cut = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
  return cut
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
}
