/** Turns a handoff that a tool's result carries into a checked record. */

import {
  emitHandoff,
  findPayload,
  type HandoffContext,
  openDelivery,
  personaName,
  readHandoff,
} from '../../src/handoff/index.ts';
import {
  annotate,
  checkOptions,
  clockOf,
  createIdOf,
  defineLayer,
  expected,
  type JsonObject,
  policyOf,
  raise,
  should,
  type ToolCall,
  type ToolLayer,
  type ToolResult,
  withResult,
} from '../../src/layer.ts';
import { type HandoffArtifactOptions, OPTIONS } from './options.ts';

export type { HandoffArtifactOptions };

/**
 * Looks at results with status `ok` only, and changes none of them unless it is strict. What a tool
 * says about itself in a handoff is written down, not believed: a `policyOverride` can only tighten
 * what the call was under. It does not hand anything over, nor does it apply the override: that is
 * for the host, which starts the next persona.
 */
export function handoffArtifact(options: HandoffArtifactOptions = {}): ToolLayer {
  checkOptions('handoffArtifact', options, OPTIONS);
  const { sink, detect, source, strict = false } = options;
  const keys = ['__handoff', 'handoff', ...(options.keys ?? [])];
  const delivery = openDelivery(sink);
  return defineLayer({
    name: 'handoffArtifact',
    order: [should.insideOf('auditLog', 'outside it, the handoff is missing from the receipt')],
    caller: (call, next) =>
      next(call).then((result) => {
        if (result.status !== 'ok') return result;
        const payload = findPayload(call, result, keys, detect);
        if (payload === null) return result;
        // A member that only happens to have such a name is no handoff, unless the host says that
        // it must be one.
        if (!isObject(payload)) return strict ? unusable(result, ['handoff']) : result;
        const reading = readHandoff(payload, contextOf(call, source));
        if ('record' in reading) return emitHandoff(call, result, reading, delivery);
        return strict
          ? unusable(result, reading.invalid)
          : annotate(result, {}, { status: 'invalid', fields: reading.invalid });
      }),
    close: () => delivery.close(),
  });
}

const isObject = (value: unknown): value is JsonObject => expected.object.test(value);

const contextOf = (call: ToolCall, source: string | undefined): HandoffContext => ({
  id: `handoff_${createIdOf(call)()}`,
  createdAt: new Date(clockOf(call).now()).toISOString(),
  source: source === undefined ? undefined : (personaName(source) ?? undefined),
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
