/** Recordings made for tests: by the layer itself, or line by line. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  composeToolCallers,
  type Next,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import { record } from '../record/record.ts';

/** A folder of its own for a test file, and what takes it away again. */
export function tempFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-recording-'));
  let count = 0;
  const path = () => join(folder, `${(count += 1)}.jsonl`);
  return {
    folder,
    path,
    /** A file with this text. */
    written(text: string | Buffer): string {
      const file = path();
      writeFileSync(file, text);
      return file;
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}

/** Makes the calls one after another under record, and answers with what they came to. */
export async function recorded(
  file: string,
  calls: readonly ToolCall[],
  executor: Next,
  around: readonly ToolLayer[] = [],
): Promise<readonly ToolResult[]> {
  const layer = record({ file });
  const stack = composeToolCallers([...around, layer]);
  const results: ToolResult[] = [];
  for (const call of calls) results.push(await stack(call, executor));
  await layer.close?.();
  return results;
}

interface LineParts {
  readonly seq?: number;
  readonly writer?: string;
  readonly tool?: string;
  readonly args?: object;
  readonly answer?: object | null;
  readonly rest?: object;
}

/** A line as the layer writes it, without its end; `rest` adds to it, `answer` to the answer. */
export function lineWith({
  seq = 0,
  writer = 'w',
  tool = 'echo',
  args = {},
  answer = {},
  rest = {},
}: LineParts = {}): string {
  return JSON.stringify({
    ...{
      schema_version: 1,
      record: 'call',
      writer,
      seq,
      tool_call_id: `old-${seq}`,
      tool_name: tool,
      arguments: args,
    },
    ...{
      turn: { iteration: 1, session_id: 's' },
      started_at: '2026-01-01T00:00:00.000Z',
      duration_ms: 1,
    },
    answer: answer === null ? null : { ...OK, ...answer },
    ...rest,
  });
}

const OK = {
  ...{ ok: true, status: 'ok', result: 'a', error: null, error_category: null, error_class: null },
  ...{ executor: 'local', executed: 'yes', execution_duration_ms: 1, output_files: [] },
};

/** Whole lines. */
export const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
