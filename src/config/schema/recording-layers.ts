/**
 * Layers that write down what happened, clean what is written, or answer from it. Descriptions are
 * those of the tables in `docs/middleware`.
 */

import {
  either,
  FLAG,
  FUNCTION,
  type LayerSchema,
  listOf,
  mapOf,
  members,
  oneOf,
  said,
  TEXT,
  whole,
} from './parts.ts';

const STRATEGY = oneOf('mask', 'hash', 'tokenise', 'block');

const SPAN_SINK = either(
  'a function, "otel", "langfuse", "stderr" or "noop"',
  oneOf('otel', 'langfuse', 'stderr', 'noop'),
  FUNCTION,
);

/** Their options as schemas, by layer. */
export const RECORDING_LAYERS: Readonly<Record<string, LayerSchema>> = {
  auditLog: {
    description: 'a receipt for every call, refusals included: by hash, chained and signed',
    required: ['sink'],
    instead: oneOf('local', 'cloud', 'both'),
    isFunction: true,
    options: {
      sink: said(
        'where receipts go, see above',
        either('a function, "local", "cloud" or "both"', oneOf('local', 'cloud', 'both'), FUNCTION),
      ),
      redact: said(
        'names of members that are left out of every hash, at every depth (default: none)',
        listOf(TEXT),
      ),
      durability: said(
        "when a receipt counts as kept: `'fsync'` on disk, `'write'` handed to the system, `'background'` some time later (default: `'write'`)",
        oneOf('fsync', 'write', 'background'),
      ),
      intent: said(
        "writes a line `record: 'intent'` before a tool runs that is not read-only, and runs the tool only once that line is kept (default: `false`)",
        FLAG,
      ),
      key: said(
        '`{ id, secret }` for HMACs, or `false` for plain SHA-256 (default: the key of the receipt files; none for other sinks)',
        either(
          'false, or a key { id, secret }',
          { const: false },
          members(
            {
              id: said('its name, which is in every hash', TEXT),
              secret: said('the key itself; take it from a variable', TEXT),
            },
            ['id', 'secret'],
          ),
        ),
      ),
      onSinkError: said(
        "`'block'`: no call runs while receipts cannot be delivered; `'warn'`: calls run, and what is lost is counted (default: `'block'`)",
        oneOf('block', 'warn'),
      ),
    },
  },
  record: {
    description: 'writes calls and answers to a file',
    required: ['file'],
    options: {
      file: said(
        'where the lines go; made with mode 0600 if it is not there, and closed to others if it is; a link, a pipe, a device, another user’s file and one that others can change are refused; its folder has to be there',
        TEXT,
      ),
      onError: said(
        "`'block'` refuses calls while nothing can be written, and writes what is missing before the next one runs; `'warn'` goes on, counts and loses (default: `'block'`)",
        oneOf('block', 'warn'),
      ),
    },
  },
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
  redaction: {
    description: 'masks secrets on every surface, in both directions',
    isFunction: true,
    options: {
      detectors: said(
        "what to look for: `secrets`, `secrets-deep`, `email`, `phone`, `card` (default: `['secrets']`; none beside a redactor given alone)",
        listOf(oneOf('secrets', 'secrets-deep', 'email', 'phone', 'card')),
      ),
      strategies: said(
        '`mask`, `hash`, `tokenise` or `block`, by detector or for `paths` and `patterns` (default: `mask` for all)',
        members(
          Object.fromEntries(
            ['secrets', 'secrets-deep', 'email', 'phone', 'card', 'paths', 'patterns'].map(
              (name) => [name, said('what becomes of these findings', STRATEGY)],
            ),
          ),
        ),
      ),
      paths: said(
        'members of arguments and results that are always hidden: `a.b`, `items[*].x`, `*.x`, `**.x`, `["a.b"]`; case does not matter (default: none)',
        listOf(TEXT),
      ),
      patterns: said(
        'expressions in RE2 syntax (text or `RegExp`), alone or as `{ name, pattern }`; what they match is hidden (default: none)',
        listOf(
          either(
            'an expression, or { name, pattern }',
            TEXT,
            members(
              {
                name: said('how findings are called', TEXT),
                pattern: said('the expression', TEXT),
              },
              ['name', 'pattern'],
            ),
          ),
        ),
      ),
      redactor: said('asked after everything else; may answer later (default: none)', FUNCTION),
      in: said(
        "what becomes of findings in arguments: `'mask'`, or `'report'`, which records them and gives the tool what the model sent (default: `'mask'`)",
        oneOf('mask', 'report'),
      ),
      key: said(
        'key of the `hash` strategy, at least 16 characters, where digests must be the same in another process (default: a random one per layer)',
        { type: 'string', minLength: 16, title: 'a string of at least 16 characters' },
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
  handoffArtifact: {
    description: 'a typed record of work handed to somebody else',
    options: {
      sink: said(
        'is told of every valid handoff, as `sink(record, call)`; the call does not wait for it (default: none)',
        FUNCTION,
      ),
      detect: said(
        'looks for the handoff before the keys do, as `detect(call, result)`; nothing, a promise or a failure leaves it to the keys (default: none)',
        FUNCTION,
      ),
      keys: said('further members of a result to look under (default: none)', listOf(TEXT)),
      source: said(
        'who hands over where a handoff does not say so (default: the field is required)',
        TEXT,
      ),
      strict: said(
        'raises for a handoff that is not valid, instead of noting it (default: `false`)',
        FLAG,
      ),
    },
  },
};
