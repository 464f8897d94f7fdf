/** Reads from a provider's response which calls it has made itself. */

import { checkOptions, expected } from '../../core/contract/options.ts';
import { anthropicCalls } from './anthropic-calls.ts';
import { geminiCalls } from './gemini-calls.ts';
import type { NativeCall, Skip, SkippedItem } from './native-call.ts';
import { openaiCalls } from './openai-calls.ts';

export interface NativeCallsOptions {
  /**
   * Hears of items that were not taken for a call and may be one. @default a warning of the
   * process, once for each kind
   */
  readonly onSkipped?: (item: SkippedItem) => void;
}

/** Each provider's list, by the name it has in a response of that provider and of no other. */
const LISTS = [
  ['output', openaiCalls],
  ['content', anthropicCalls],
  ['candidates', geminiCalls],
] as const;

/**
 * The calls that a provider made and answered itself, for `observe`: of a response of OpenAI's
 * Responses API, Anthropic's Messages API or Google's `generateContent`. Calls that are left to the
 * host are not among them. A response is read and never trusted: what has the wrong form is skipped
 * and reported. It does not read streams; give it the response that a stream comes to.
 */
export function nativeCallsOf(
  response: unknown,
  options: NativeCallsOptions = {},
): readonly NativeCall[] {
  checkOptions('nativeCallsOf', options, { onSkipped: expected.function });
  const skip = reporting(options.onSkipped);
  const found = listIn(response);
  if (found !== null) return Object.freeze([...found.read(found.list, skip)]);
  skip({
    path: '',
    kind: 'response',
    why: 'it is not a response of a provider that is known here',
  });
  return Object.freeze([]);
}

function listIn(
  response: unknown,
): { list: unknown; read: (list: unknown, skip: Skip) => readonly NativeCall[] } | null {
  try {
    if (typeof response !== 'object' || response === null) return null;
    for (const [name, read] of LISTS) {
      const list: unknown = Reflect.get(response, name);
      if (Array.isArray(list)) return { list, read };
    }
  } catch {
    // A hostile proxy throws on every touch.
  }
  return null;
}

const warned = new Set<string>();
const MAX_WARNED = 100;

/** A listener that fails is no reason to lose a call. */
function reporting(onSkipped: NativeCallsOptions['onSkipped']): Skip {
  return (item) => {
    try {
      if (onSkipped !== undefined) return onSkipped(Object.freeze(item));
      const text = `a ${JSON.stringify(item.kind)} of a provider's response was not taken for a call: ${item.why}`;
      if (warned.has(text) || warned.size >= MAX_WARNED) return;
      warned.add(text);
      process.emitWarning(text, 'AlliumWarning');
    } catch {
      // Nobody is left to be told.
    }
  };
}
