/** Turns a handoff that a tool's result carries into a checked record. */

import {
  annotate,
  checkOptions,
  clockOf,
  createIdOf,
  defineLayer,
  expected,
  inSteps,
  policyOf,
  raise,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { emitHandoff } from './emit-handoff.ts';
import { type DetectHandoff, findPayload } from './find-payload.ts';
import { type HandoffSink, openDelivery } from './handoff-delivery.ts';
import { HANDOFF_LIMITS } from './handoff-record.ts';
import { isObject, lineUpTo } from './read-fields.ts';
import { type HandoffContext, readHandoff } from './read-handoff.ts';

export interface HandoffArtifactOptions {
  /** Is told of every valid handoff, after the stack's scrubs have cleaned it. The call does not wait for it. @default none */
  readonly sink?: HandoffSink;
  /** Looks for the handoff before the keys do. @default none */
  readonly detect?: DetectHandoff;
  /** Further members of a result to look under, after `__handoff` and `handoff`. @default none */
  readonly keys?: readonly string[];
  /** Who hands over where a handoff does not say so. @default nobody: the field is required */
  readonly source?: string;
  /** Raises for a handoff that is not valid, instead of noting it. @default false */
  readonly strict?: boolean;
}

const persona = lineUpTo(HANDOFF_LIMITS.name);

/**
 * Looks at results with status `ok` only, and changes none of them unless it is strict. What a tool says about itself in
 * a handoff is written down, not believed: a `policyOverride` can only tighten what the call was under. It does not hand
 * anything over, nor does it apply the override: that is for whoever starts the next persona.
 */
export function handoffArtifact(options: HandoffArtifactOptions = {}): ToolLayer {
  checkOptions('handoffArtifact', options, {
    sink: expected.function,
    detect: expected.function,
    keys: expected.listOf(expected.string),
    source: {
      text: `a name of 1 to ${HANDOFF_LIMITS.name} characters`,
      test: (value) => typeof value === 'string' && typeof persona(value) === 'string',
    },
    strict: expected.boolean,
  });
  const { sink, detect, source, strict = false } = options;
  const keys = ['__handoff', 'handoff', ...(options.keys ?? [])];
  const delivery = openDelivery(sink);
  return defineLayer({
    name: 'handoffArtifact',
    order: [
      {
        insideOf: 'auditLog',
        level: 'should',
        because: 'outside it, the handoff is missing from the receipt',
      },
    ],
    caller: inSteps((call) => ({ call, leave: (result) => handedOver(call, result) })),
    close: () => delivery.close(),
  });

  function handedOver(call: ToolCall, result: ToolResult): ToolResult {
    if (result.status !== 'ok') return result;
    const payload = findPayload(call, result, keys, detect);
    if (payload === null) return result;
    // A member that only happens to have such a name is no handoff, unless the host says that it must be one.
    if (!isObject(payload)) return strict ? unusable(result, ['handoff']) : result;
    const reading = readHandoff(payload, contextOf(call, source));
    if ('record' in reading) return emitHandoff(call, result, reading, delivery);
    return strict
      ? unusable(result, reading.invalid)
      : annotate(result, {}, { status: 'invalid', fields: reading.invalid });
  }
}

const contextOf = (call: ToolCall, source: string | undefined): HandoffContext => ({
  id: `handoff_${createIdOf(call)()}`,
  createdAt: new Date(clockOf(call).now()).toISOString(),
  source: source === undefined ? undefined : (persona(source) ?? undefined),
  runId: call.turn.runId,
  policy: policyOf(call) ?? {},
});

/** The tool has run, and the result says so; what it answered is not handed on. */
function unusable(result: ToolResult, fields: readonly string[]): ToolResult {
  const error = `${result.toolName} ran, but its handoff cannot be used: check ${fields.join(', ')}. Do not repeat the call.`;
  const refused = withResult(result, {
    ok: false,
    status: 'output_schema_violation',
    error,
    result: null,
    content: [],
  });
  return raise(annotate(refused, {}, { status: 'invalid', fields }));
}
