/**
 * Where an MCP server is: a program to start, an address, or a transport that somebody else makes.
 */

import { AlliumError } from '../../core/contract/errors.ts';
import { isObject } from '../../core/json/json.ts';
import { checkOptions, type Expectation, expected } from '../../core/contract/options.ts';

/** A server that is started here and spoken to over its standard input and output. */
export interface McpCommand {
  /** What policies and records call the server. */
  readonly name: string;
  /** The program. No shell reads it. */
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * Variables it gets beside `PATH`, `HOME` and a few others that tell nothing. It gets no other
   * variable of this process.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working directory */
  readonly cwd?: string;
}

/** A server that runs already and is spoken to over streamable HTTP. */
export interface McpAddress {
  readonly name: string;
  readonly url: string | URL;
  /** Sent with every request, such as `authorization`. They are not followed to another origin. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A server behind any transport of the MCP SDK. Called for each connection: a transport lives once.
 */
export interface McpTransport {
  readonly name: string;
  readonly transport: () => SdkTransport;
}

/**
 * What every transport of the MCP SDK is. The type is stated here, so that programs without such a
 * transport need no SDK.
 */
export interface SdkTransport {
  start(): Promise<void>;
  send(message: object, options?: object): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** Which of the two protocols is spoken: up to 2025-11-25, or from 2026-07-28 on. */
export type McpEra = 'auto' | 'legacy' | 'modern';

export type McpTarget = McpCommand | McpAddress | McpTransport;

const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const name = expected.required({
  text: 'a letter or digit, then up to 63 letters, digits, "_", "." or "-"',
  test: (value) => typeof value === 'string' && SERVER_NAME.test(value),
});
/** Programs stop reading at a zero character. */
const text: Expectation = {
  text: 'a string',
  test: (value) => typeof value === 'string' && !value.includes('\0'),
};
const address: Expectation = {
  text: 'an http or https address without a password',
  test: isAddress,
};

const EXPECTED: Readonly<
  Record<'command' | 'url' | 'transport', Readonly<Record<string, Expectation>>>
> = {
  command: {
    name,
    command: expected.required(expected.string),
    args: expected.listOf(text),
    env: expected.mapOf(text),
    cwd: expected.string,
  },
  url: { name, url: expected.required(address), headers: expected.mapOf(text) },
  transport: { name, transport: expected.required(expected.function) },
};

/** Throws `ERR_INVALID_OPTION` for what is none of the three, or more than one. */
export function checkTarget(target: McpTarget): void {
  const kinds = isObject(target)
    ? (['command', 'url', 'transport'] as const).filter((kind) => Object.hasOwn(target, kind))
    : [];
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw new AlliumError(
      'ERR_INVALID_OPTION',
      'mcpExecutor: a server has one of "command", "url" and "transport"',
      {
        layer: 'mcpExecutor',
        option: 'command',
        expected: 'one of command, url, transport',
        got: kinds.length === 0 ? 'none of them' : kinds.join(' and '),
      },
    );
  checkOptions('mcpExecutor', target, EXPECTED[kind]);
}

function isAddress(value: unknown): boolean {
  const url =
    value instanceof URL
      ? value
      : typeof value === 'string' && URL.canParse(value)
        ? new URL(value)
        : null;
  return (
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === ''
  );
}
