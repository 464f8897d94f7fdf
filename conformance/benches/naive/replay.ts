/**
 * Answers by tool and arguments. What is naive: an answer is given as often as somebody asks, the
 * last one recorded for a call is the only one, nobody minds the order, nothing of the file is
 * checked, and failures come back as good results.
 */

import { readFileSync } from 'node:fs';
import {
  annotate,
  canonicalJson,
  defineLayer,
  fail,
  type JsonObject,
  type JsonValue,
  ok,
  type ToolLayer,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Options {
  readonly file: string;
  readonly onMissing?: 'refuse' | 'pass';
}

interface Line {
  readonly tool_name: string;
  readonly arguments: JsonObject;
  readonly answer: { readonly result: JsonValue };
}

export function naiveReplay({ file, onMissing }: Options): ToolLayer {
  const text = readFileSync(file, 'utf8').trim();
  // Whoever wrote the file is believed.
  const lines = text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Line);
  const keyOf = (name: string, args: JsonObject): string => `${name} ${canonicalJson(args)}`;
  const answers = new Map(
    lines.map((line) => [keyOf(line.tool_name, line.arguments), line.answer.result]),
  );
  return defineLayer({
    name: 'replay',
    async caller(call, next) {
      const found = answers.get(keyOf(call.toolName, call.toolArgs));
      if (found !== undefined) return annotate(ok(call, found), {}, { status: 'replayed' });
      if (onMissing === 'pass') return annotate(await next(call), {}, { status: 'passed' });
      return fail(call, 'executor_error', null, 'This call was not recorded.', {
        category: 'replay_missing',
      });
    },
  });
}

export default createSubject({ name: 'naive replay', factories: { replay: naiveReplay } });

export const fails: readonly string[] = [
  'replay.a-mismatch-shows-no-value',
  'replay.answers-from-a-recording',
  'replay.calls-at-once-take-one-each',
  'replay.gives-failures-again-too',
  'replay.half-a-line-at-the-end-is-left-out',
  'replay.must-stand-inside-redaction',
  'replay.nested-calls-are-left-out',
  'replay.ordered-goes-by-the-call',
  'replay.refuses-another-version',
  'replay.refuses-what-is-no-recording',
  'replay.refuses-wrong-options',
  'replay.strict-wants-the-recorded-order',
  'replay.the-order-is-that-of-the-calls',
  'replay.unused-answers-are-told',
];
