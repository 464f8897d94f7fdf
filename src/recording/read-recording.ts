/**
 * Reads the file that `record` writes. What is not exactly such a file is refused, with the line.
 */

import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  AlliumError,
  fromWire,
  isAlliumError,
  type JsonObject,
  type ToolResult,
  type Turn,
} from '../layer.ts';
import { CALL_SCHEMA, MAX_LINE_BYTES, TORN_SCHEMA } from './recording-schema.ts';

/**
 * What a recorded call came to. Without `content` the text only writes out the value, or the error.
 */
export type RecordedAnswer = Pick<
  ToolResult,
  | 'ok'
  | 'status'
  | 'result'
  | 'error'
  | 'errorCategory'
  | 'errorClass'
  | 'executor'
  | 'executed'
  | 'outputFiles'
  | 'executionDurationMs'
> &
  Partial<Pick<ToolResult, 'content' | 'renderedResult' | 'interruption' | 'metadata'>>;

export interface RecordedCall {
  /** Where it stands in the file, from 1. */
  readonly line: number;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: JsonObject;
  readonly turn: Turn;
  readonly startedAt: string;
  readonly durationMs: number;
  /** A tool made this call while it was at work for another one. */
  readonly nested: boolean;
  /** `null` where it was too large to be written. */
  readonly answer: RecordedAnswer | null;
}

export interface Recording {
  readonly file: string;
  /**
   * In the order in which they came. Of several writers, the one whose first call ended first comes
   * first.
   */
  readonly calls: readonly RecordedCall[];
  /** Lines that were cut off when their writer died. */
  readonly torn: number;
}

const MAX_FILE_BYTES = 512 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Throws `ERR_INVALID_RECORDING`, with file and line and without anything that stands there. Holds
 * the whole file in memory.
 */
export function readRecording(file: string): Recording {
  const bytes = bytesOf(file);
  const groups = new Map<string, Map<number, RecordedCall>[]>();
  let torn = 0;
  let broken: { readonly line: number; readonly problem: string; readonly bytes: number } | null =
    null;
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    line += 1;
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const length = end - start;
    const parsed = parsedLine(bytes.subarray(start, end));
    start = end + 1;
    if (broken !== null && parsed !== 'torn') throw invalid(file, broken.line, broken.problem);
    if (typeof parsed === 'object') keep(groups, parsed, line);
    // A writer that looks while another one writes takes its line for cut off; what it then ends is
    // an empty line.
    else if (parsed === 'torn') torn += broken === null || broken.bytes === 0 ? 0 : 1;
    // The last line may be a piece of one; any other must be followed by a word that it is.
    else if (found === -1) torn += 1;
    broken =
      typeof parsed === 'string' && parsed !== 'torn' && found !== -1
        ? { line, problem: parsed, bytes: length }
        : null;
  }
  if (broken !== null) throw invalid(file, broken.line, broken.problem);
  const calls = [...groups.values()]
    .flat()
    .flatMap((group) => [...group].sort(([a], [b]) => a - b).map(([, call]) => call));
  return Object.freeze({ file, calls: Object.freeze(calls), torn });
}

/** A writer that starts anew under its old name, as fixed ids make it do, is another one. */
function keep(
  groups: Map<string, Map<number, RecordedCall>[]>,
  wire: JsonObject,
  line: number,
): void {
  const { schemaVersion: _version, record: _record, writer, seq, nested, ...rest } = fromWire(wire);
  // The schema has said that this is what they are.
  const call = Object.freeze({ line, nested: nested === true, ...rest }) as unknown as RecordedCall;
  const own = groups.get(writer as string) ?? [];
  groups.set(writer as string, own);
  const last = own.at(-1);
  if (last === undefined || last.has(seq as number)) own.push(new Map([[seq as number, call]]));
  else last.set(seq as number, call);
}

/** The line, or what is wrong with it. */
function parsedLine(bytes: Buffer): JsonObject | string {
  if (bytes.length > MAX_LINE_BYTES) return `is longer than ${MAX_LINE_BYTES} bytes`;
  if (!isUtf8(bytes)) return 'is not UTF-8';
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
    // Refuses what nests too deep for anything that follows.
    value = fromWire({ result: value }).result;
  } catch (thrown) {
    return isAlliumError(thrown) ? 'nests too deep' : 'is not JSON';
  }
  const [isCall, isTorn] = validators();
  if (isTorn(value)) return 'torn';
  return isCall(value) ? value : problemOf(value, isCall);
}

function problemOf(value: unknown, { errors }: ValidateFunction): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'is not an object';
  const { schema_version: version } = value as Record<string, unknown>;
  if (version !== 1) return 'is not of schema_version 1';
  const { instancePath = '', keyword = '', params = {} } = errors?.[0] ?? {};
  const where = instancePath === '' ? 'the line' : instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'required')
    return `has no ${(params as { missingProperty: string }).missingProperty} in ${where}`;
  if (keyword === 'additionalProperties') return `has an unknown member in ${where}`;
  return `has a wrong value at ${where}`;
}

let compiled: readonly [ValidateFunction, ValidateFunction] | null = null;

function validators(): readonly [ValidateFunction, ValidateFunction] {
  if (compiled !== null) return compiled;
  const ajv = new Ajv2020({
    discriminator: true,
    strictTypes: false,
    strictRequired: false,
    ownProperties: true,
  });
  return (compiled = [ajv.compile(CALL_SCHEMA), ajv.compile(TORN_SCHEMA)]);
}

function bytesOf(file: string): Buffer {
  let descriptor: number;
  try {
    // Without O_NONBLOCK a pipe would be waited for without end.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    throw invalid(file, null, 'cannot be read');
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw invalid(file, null, 'is not a file');
    if (found.size > MAX_FILE_BYTES)
      throw invalid(file, null, `is larger than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function invalid(file: string, line: number | null, problem: string): AlliumError {
  const where = line === null ? file : `${file}:${line}`;
  return new AlliumError(
    'ERR_INVALID_RECORDING',
    `${where}: ${line === null ? '' : 'the line '}${problem}`,
    { path: where },
  );
}
