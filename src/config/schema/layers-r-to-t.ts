/** The options of the bundled layers as schemas. Descriptions are those of the tables in `docs/middleware`. */

import {
  either,
  FLAG,
  FUNCTION,
  type LayerSchema,
  listOf,
  mapOf,
  oneOf,
  said,
  TEXT,
  whole,
} from './parts.ts';

const SPAN_SINK = either(
  'a function, "otel", "langfuse", "stderr" or "noop"',
  oneOf('otel', 'langfuse', 'stderr', 'noop'),
  FUNCTION,
);

/** From `replay` to `timeout`. */
export const LAYERS_R_TO_T: Readonly<Record<string, LayerSchema>> = {
  replay: {
    description: 'answers from a recording instead of the tool',
    required: ['file'],
    options: {
      file: said('the recording; it is read when the layer is made', TEXT),
      mode: said("`'strict'` or `'ordered'` (default: `'strict'`)", oneOf('strict', 'ordered')),
      onMissing: said(
        "what becomes of a call that has no answer: `'refuse'`, or `'pass'` to let the tool run, which needs mode `'ordered'` (default: `'refuse'`)",
        oneOf('refuse', 'pass'),
      ),
      onUnused: said(
        "what `close()` does about answers nobody asked for: `'ignore'`, `'throw'` (`ERR_UNUSED_ANSWERS`), or a function that gets them (default: `'ignore'`)",
        either('"ignore", "throw" or a function', oneOf('ignore', 'throw'), FUNCTION),
      ),
    },
  },
  requiredReason: {
    description: 'the model has to say why, and it is recorded',
    options: {
      field: said('the parameter that holds the reason (default: `reason`)', TEXT),
      description: said(
        'what the model is told about it (default: `Brief one-line reason for invoking this tool`)',
        TEXT,
      ),
      strip: said(
        'takes the field off before the layers inside and the tool (default: `true`)',
        FLAG,
      ),
      auditKey: said(
        'where the reason stands in the audit record, besides `reason` (default: `summary`)',
        TEXT,
      ),
      minLength: said(
        'shortest reason that counts, without the space around it (default: 1)',
        whole(1),
      ),
      onMissing: said(
        "`'reject'` refuses a call without a reason, `'fill_blank'` runs it (default: `'reject'`)",
        oneOf('reject', 'fill_blank'),
      ),
      schemaRequired: said(
        "whether the schema shown to the model requires the field (default: `true`; `false` with `'fill_blank'`)",
        FLAG,
      ),
    },
  },
  retry: {
    description: 'tries again what may be repeated, and never an ambiguous write',
    options: {
      maxAttempts: said(
        'how often a call is tried at most, the first time included (default: 3)',
        whole(1),
      ),
      backoffMs: said(
        'the wait before the second attempt; it doubles with every further one (default: 200)',
        whole(0),
      ),
      maxBackoffMs: said(
        'the longest wait; a result that asks for a longer one is not tried again (default: 10,000)',
        whole(0),
      ),
      maxElapsedMs: said(
        'no attempt begins later than this after the first (default: no limit)',
        whole(0),
      ),
      jitter: said('waits a random part of the time (default: `true`)', FLAG),
      only: said(
        'names or globs (`*`) of the tools to try again; an empty list means none (default: every tool)',
        listOf(TEXT),
      ),
      except: said('names or globs of the tools never to try again (default: none)', listOf(TEXT)),
      on: said(
        "statuses or error classes that are worth another attempt (default: `['retryable']`)",
        listOf(TEXT),
      ),
      random: said('a number from 0 to 1 for the jitter (default: `Math.random`)', FUNCTION),
    },
  },
  scopedExecutor: {
    description: 'narrows tools, capabilities and side effects for everything inside',
    bare: false,
    options: {
      stage: said(
        "the stage of the agent's work, for records and refusals (default: `scoped`)",
        TEXT,
      ),
      allowedTools: said(
        'exact tool names, without `*`; an empty list allows none (default: every tool)',
        listOf(TEXT),
      ),
      sideEffectLevel: said(
        'the strongest side effect: `none`, `read_only`, `workspace_write`, `process_exec` or `network` (default: any)',
        oneOf('none', 'read_only', 'workspace_write', 'process_exec', 'network'),
      ),
      capabilities: said(
        "operations by capability, such as `{ workspace: ['read'] }`; what is not listed is not allowed, and `{}` allows nothing (default: any)",
        mapOf(listOf(TEXT)),
      ),
      workspaceRoots: said(
        'absolute folders; a tool runs only if it is known to keep to them, and an empty list allows none (default: any)',
        listOf(TEXT),
      ),
      argConstraints: said(
        "what arguments have to be, by tool and argument, such as `{ read_file: { path: { within: ['/srv'] } } }`; what is not listed is free (default: anything)",
        mapOf(
          mapOf(
            either(
              'a constraint or a list of them',
              { type: 'object' },
              listOf({ type: 'object' }),
            ),
          ),
        ),
      ),
      recursionLimit: said(
        'how deep tools may call tools; 0 lets none call another (default: as deep as the dispatcher allows)',
        whole(0),
      ),
      hide: said(
        'whether tools that the scope would refuse are not shown either; a call to one is then `tool_not_found` (default: `false`)',
        FLAG,
      ),
      onViolation: said(
        '`reject` answers `scope_violation`; `raise` also throws it at the outer edge of the stack (default: `reject`)',
        oneOf('reject', 'raise'),
      ),
    },
  },
  summary: {
    description: 'one line for people about every call',
    required: ['format'],
    isFunction: true,
    options: {
      format: said(
        'a function of call and result that gives the line; nothing, or a blank, leaves the record as it is',
        FUNCTION,
      ),
    },
  },
  telemetry: {
    description: 'OpenTelemetry spans and metrics, Langfuse, or your own function',
    instead: oneOf('otel', 'langfuse', 'stderr', 'noop'),
    isFunction: true,
    options: {
      sink: said(
        "a function or one of the names above; it may also stand in place of the options (default: `'otel'`, unless `sinks` is given)",
        SPAN_SINK,
      ),
      sinks: said(
        'more of them, each guarded by itself; an empty list is none (default: none)',
        listOf(SPAN_SINK),
      ),
      project: said(
        'on every span as `allium.project`; the service in Langfuse (default: none)',
        TEXT,
      ),
      environment: said('on every span as `allium.environment` (default: none)', TEXT),
      release: said('on every span as `allium.release` (default: none)', TEXT),
      persona: said('on every span as `allium.persona` (default: none)', TEXT),
      mode: said('on every span as `allium.mode` (default: none)', TEXT),
      parentSpanId: said(
        'the span all calls belong under, except those that are taken up again; OpenTelemetry takes it together with a `traceId`, both in hexadecimal (default: the active span, or else `metadata.traceparent` of the call)',
        TEXT,
      ),
      traceId: said(
        'the trace all calls belong to (default: the active trace; in records the session)',
        TEXT,
      ),
      attributes: said(
        'on every span: at most 64 texts, numbers, `true` and `false`; they replace nothing the layer says itself (default: none)',
        mapOf({
          anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
          title: 'a text, a number, true or false',
        }),
      ),
      captureContent: said(
        'whether arguments, results and error texts go along (default: `false`)',
        FLAG,
      ),
      timeoutMs: said(
        'how long one delivery may take, and `close` may wait (default: 5000)',
        whole(1),
      ),
      onError: said(
        'hears of every problem: `{ sink, kind, message, counts }` (default: a warning of the process, once for each sink and kind)',
        FUNCTION,
      ),
      maxPending: said(
        'how many records may be on their way to one sink (default: 1024)',
        whole(1),
      ),
    },
  },
  timeout: {
    description: 'limits the time of a call, aborts the tool, and says what may have happened',
    required: ['maxMs'],
    options: {
      maxMs: said('time for a call, in milliseconds, at least 1', whole(1)),
      perTool: said(
        'other times by tool name or glob (`*`); the first that matches counts (default: none)',
        mapOf(whole(1)),
      ),
      graceMs: said(
        'how long an aborted tool may take to come to an end and say what it did (default: 100)',
        whole(0),
      ),
      message: said('how the error begins (default: `<tool> did not answer in time`)', TEXT),
    },
  },
};
