/**
 * Limits around a dispatcher that has none. What is naive about them: a count is read before a call
 * and written after it, calls that are turned away count too, a large text is cut by characters and
 * the rest is gone, unknown tools are thrown before anybody has recorded them, and closing does not
 * wait.
 */

import {
  AlliumError,
  defineLayer,
  type DispatchLimits,
  type GovernedTools,
  type GovernOptions,
  governTools,
  refuse,
  type ToolLayer,
  withResult,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const { limits = {}, onUnknownTool, ...rest } = options;
  const governed = governTools({
    ...rest,
    layers: [counted(limits), shortened(limits), ...options.layers],
  });
  const names = new Set(governed.tools.map(({ name }) => name));
  let isClosed = false;
  return {
    ...governed,
    async call(request, callOptions) {
      if (isClosed) throw new AlliumError('ERR_CLOSED', 'closed');
      if (onUnknownTool === 'throw' && !names.has(request.name))
        throw new AlliumError('ERR_UNKNOWN_TOOL', `no tool ${request.name}`);
      return governed.call(request, callOptions);
    },
    async close() {
      isClosed = true;
      for (const layer of options.layers) if (typeof layer !== 'function') await layer.close?.();
    },
  };
}

function counted({
  maxCallsPerRun = Infinity,
  maxCallsPerSession = Infinity,
}: DispatchLimits): ToolLayer {
  const counts = new Map<string, number>();
  return defineLayer({
    name: 'limits',
    observes: true,
    async caller(call, next) {
      const { runId = '', sessionId } = call.turn;
      const run = counts.get(`run ${runId}`) ?? 0;
      const session = counts.get(`session ${sessionId}`) ?? 0;
      if (run >= maxCallsPerRun)
        return refuse(
          call,
          'limit_exceeded',
          `No more calls: this run has used its ${maxCallsPerRun} tool calls.`,
        );
      if (session >= maxCallsPerSession)
        return refuse(call, 'limit_exceeded', 'No more calls in this session.');
      const result = await next(call);
      counts.set(`run ${runId}`, run + 1);
      counts.set(`session ${sessionId}`, session + 1);
      return result;
    },
  });
}

function shortened({ maxPreviewBytes = Infinity }: DispatchLimits): ToolLayer {
  return defineLayer({
    name: 'shorten',
    observes: true,
    async caller(call, next) {
      const result = await next(call);
      const { renderedResult: text } = result;
      return text.length <= maxPreviewBytes
        ? result
        : withResult(result, { renderedResult: `${text.slice(0, maxPreviewBytes)}\n[cut]` });
    },
  });
}

export default createSubject({ name: 'naive lifecycle', govern });

export const fails: readonly string[] = [
  'lifecycle.a-large-result-is-kept-aside',
  'lifecycle.a-preview-is-cut-between-characters',
  'lifecycle.a-result-over-the-limit-is-not-kept',
  'lifecycle.a-result-with-too-many-values-is-not-kept',
  'lifecycle.a-run-has-so-many-calls',
  'lifecycle.a-session-has-so-many-calls',
  'lifecycle.an-acting-layer-hides-what-admission-turned-away',
  'lifecycle.an-unknown-limit-is-refused',
  'lifecycle.calls-wait-for-a-place',
  'lifecycle.closing-waits-and-then-refuses',
  'lifecycle.unknown-tools-may-throw',
  'lifecycle.what-is-kept-aside-is-redacted',
];
