import { mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isAlliumError } from '../../src/index.ts';
import { lines, lineWith, tempFolder } from './recording.fixture.ts';
import { readRecording } from '../../src/recording/index.ts';

const files = tempFolder();
afterAll(files.remove);

const TORN = '{"schema_version":1,"record":"torn"}';

const namesIn = (text: string | Buffer) =>
  readRecording(files.written(text)).calls.map(({ toolName }) => toolName);

/** The message, without the folder. */
function refusalOf(file: string): string {
  try {
    readRecording(file);
  } catch (error) {
    if (isAlliumError(error, 'ERR_INVALID_RECORDING'))
      return error.message.replaceAll(file, 'FILE');
  }
  throw new Error('the recording was taken');
}

describe('readRecording', () => {
  it('takes calls in the order in which they came', () => {
    expect(
      namesIn(
        lines(
          lineWith({ seq: 2, tool: 'c' }),
          lineWith({ seq: 0, tool: 'a' }),
          lineWith({ seq: 1, tool: 'b' }),
        ),
      ),
    ).toEqual(['a', 'b', 'c']);
  });

  it('takes one writer after another, and one that starts anew under its old name for another one', () => {
    const text = lines(
      ...[
        lineWith({ writer: 'x', seq: 1, tool: 'x1' }),
        lineWith({ writer: 'y', seq: 0, tool: 'y0' }),
      ],
      ...[
        lineWith({ writer: 'x', seq: 0, tool: 'x0' }),
        lineWith({ writer: 'x', seq: 0, tool: 'x0 again' }),
      ],
    );

    expect(namesIn(text)).toEqual(['x0', 'x1', 'x0 again', 'y0']);
  });

  it('tells everything that was recorded, in the spelling of memory', () => {
    const { calls } = readRecording(
      files.written(lines(lineWith({ args: { some_name: 1 }, rest: { nested: true } }))),
    );

    expect(calls[0]).toEqual({
      ...{
        line: 1,
        nested: true,
        toolCallId: 'old-0',
        toolName: 'echo',
        arguments: { some_name: 1 },
      },
      ...{
        turn: { iteration: 1, sessionId: 's' },
        startedAt: '2026-01-01T00:00:00.000Z',
        durationMs: 1,
      },
      answer: {
        ...{
          ok: true,
          status: 'ok',
          result: 'a',
          error: null,
          errorCategory: null,
          errorClass: null,
        },
        ...{ executor: 'local', executed: 'yes', executionDurationMs: 1, outputFiles: [] },
      },
    });
    expect(
      Object.isFrozen(calls) && Object.isFrozen(calls[0]) && Object.isFrozen(calls[0]?.arguments),
    ).toBe(true);
  });

  it('takes an empty file for a recording of nothing', () => {
    expect(readRecording(files.written(''))).toMatchObject({ calls: [], torn: 0 });
  });

  it('leaves out a last line that was cut off anywhere', () => {
    const whole = Buffer.from(
      lines(lineWith({ tool: 'a' }), lineWith({ seq: 1, tool: 'b', answer: { result: 'é🌍' } })),
    );
    const first = Buffer.byteLength(lines(lineWith({ tool: 'a' })));

    for (let end = first + 1; end < whole.length - 1; end += 1) {
      const { calls, torn } = readRecording(files.written(whole.subarray(0, end)));
      expect([calls.length, torn]).toEqual([1, 1]);
    }
    expect(namesIn(whole.subarray(0, whole.length - 1))).toEqual(['a', 'b']);
  });

  it('leaves out a line that was cut off where the next one says so', () => {
    const file = files.written(
      lines(
        lineWith({ tool: 'a' }),
        '{"schema_version":1,"rec',
        TORN,
        lineWith({ seq: 1, tool: 'b' }),
      ),
    );

    expect(readRecording(file)).toMatchObject({
      calls: [{ toolName: 'a' }, { toolName: 'b' }],
      torn: 1,
    });
    expect(readRecording(files.written(lines(lineWith(), TORN, TORN)))).toMatchObject({
      calls: [{}],
      torn: 0,
    });
    expect(readRecording(files.written(lines(lineWith(), '', TORN)))).toMatchObject({
      calls: [{}],
      torn: 0,
    });
  });

  const good = lineWith({ tool: 'good' });
  it.each<[string, string | Buffer, string]>([
    ['text', 'hello', 'FILE:2: the line is not JSON'],
    ['half a line', good.slice(0, 40), 'FILE:2: the line is not JSON'],
    ['nothing', '', 'FILE:2: the line is not JSON'],
    ['bytes that are no text', Buffer.from([0x22, 0xff, 0x22]), 'FILE:2: the line is not UTF-8'],
    ['a list', '[]', 'FILE:2: the line is not an object'],
    ['null', 'null', 'FILE:2: the line is not an object'],
    [
      'another version',
      lineWith({ rest: { schema_version: 2 } }),
      'FILE:2: the line is not of schema_version 1',
    ],
    [
      'a version as text',
      lineWith({ rest: { schema_version: '1' } }),
      'FILE:2: the line is not of schema_version 1',
    ],
    ['no version', '{"record":"call"}', 'FILE:2: the line is not of schema_version 1'],
    [
      'an inherited version',
      '{"__proto__":{"schema_version":1}}',
      'FILE:2: the line is not of schema_version 1',
    ],
    [
      'another record',
      lineWith({ rest: { record: 'receipt' } }),
      'FILE:2: the line has a wrong value at record',
    ],
    [
      'a member __proto__',
      `${good.slice(0, -1)},"__proto__":{"a":1}}`,
      'FILE:2: the line has an unknown member in the line',
    ],
    [
      'a member too many',
      lineWith({ rest: { extra: 1 } }),
      'FILE:2: the line has an unknown member in the line',
    ],
    [
      'no answer',
      lineWith({ rest: { answer: undefined } }),
      'FILE:2: the line has no answer in the line',
    ],
    [
      'a text as answer',
      lineWith({ rest: { answer: 'ok' } }),
      'FILE:2: the line has a wrong value at answer',
    ],
    [
      'a list as arguments',
      lineWith({ args: [] }),
      'FILE:2: the line has a wrong value at arguments',
    ],
    [
      'an answer without status',
      lineWith({ answer: { status: undefined } }),
      'FILE:2: the line has no status in answer',
    ],
    [
      'a good answer that failed',
      lineWith({ answer: { status: 'timeout' } }),
      'FILE:2: the line has a wrong value at answer.status',
    ],
    [
      'a bad answer that is ok',
      lineWith({ answer: { ok: false, error: 'e' } }),
      'FILE:2: the line has a wrong value at answer.status',
    ],
    [
      'a made-up error class',
      lineWith({ answer: { error_class: 'odd' } }),
      'FILE:2: the line has a wrong value at answer.error_class',
    ],
    [
      'a block of no kind',
      lineWith({ answer: { content: [{ type: 'video' }], rendered_result: 'v' } }),
      'FILE:2: the line has a wrong value at answer.content.0',
    ],
    [
      'an image without data',
      lineWith({ answer: { content: [{ type: 'image', mimeType: 'a' }], rendered_result: 'v' } }),
      'FILE:2: the line has no data in answer.content.0',
    ],
    [
      'deep nesting',
      `{"schema_version":1,"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      'FILE:2: the line nests too deep',
    ],
  ])('refuses %s, with file and line', (_what, line, message) => {
    const text = Buffer.concat([
      Buffer.from(`${good}\n`),
      Buffer.from(line),
      Buffer.from(`\n${good}\n`),
    ]);

    expect(refusalOf(files.written(text))).toBe(message);
  });

  it('refuses a broken last line that is whole', () => {
    expect(refusalOf(files.written(lines(good, 'hello')))).toBe('FILE:2: the line is not JSON');
  });

  it('refuses a line that is too long before it reads it', () => {
    expect(refusalOf(files.written(`${' '.repeat(32 * 1024 * 1024 + 1)}\n`))).toBe(
      'FILE:1: the line is longer than 33554432 bytes',
    );
  });

  it('refuses what is too large, not there, or not a file', () => {
    const huge = files.written('');
    truncateSync(huge, 513 * 1024 * 1024);
    mkdirSync(join(files.folder, 'folder'));

    expect(refusalOf(huge)).toBe('FILE: is larger than 536870912 bytes');
    expect(refusalOf(join(files.folder, 'missing'))).toBe('FILE: cannot be read');
    expect(refusalOf(join(files.folder, 'folder'))).toBe('FILE: is not a file');
    expect(refusalOf('/dev/zero')).toBe('FILE: is not a file');
  });

  it('never repeats what stands in the file', () => {
    const refusal = refusalOf(
      files.written(
        lines(lineWith({ tool: 'secret-1', args: ['secret-2'], rest: { 'secret-3': 'secret-4' } })),
      ),
    );

    expect(refusal).not.toContain('secret');
  });
});
