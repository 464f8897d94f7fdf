/** The options of the bundled layers as schemas. Descriptions are those of the tables in `docs/middleware`. */

import {
  either,
  FLAG,
  FUNCTION,
  type LayerSchema,
  listOf,
  MADE,
  members,
  oneOf,
  said,
  TEXT,
  whole,
} from './parts.ts';

const STRATEGY = oneOf('mask', 'hash', 'tokenise', 'block');

/** From `auditLog` to `redaction`. */
export const LAYERS_A_TO_R: Readonly<Record<string, LayerSchema>> = {
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
  consent: {
    description: 'rules and people decide; an approval holds for exactly the call that was shown',
    bare: false,
    isFunction: true,
    options: {
      decide: said('decides about the calls that no rule is about (default: none)', FUNCTION),
      rules: said(
        'list of `{ tool, when?, decision }`: name or glob (`*`), a look at the arguments, and `allow`, `deny`, `ask` or `require_approval` (default: none)',
        listOf(
          members(
            {
              tool: said('a tool name or a glob (`*`)', TEXT),
              when: said('a look at the arguments', FUNCTION),
              decision: said(
                'what becomes of such a call',
                oneOf('allow', 'deny', 'ask', 'require_approval'),
              ),
            },
            ['tool', 'decision'],
          ),
        ),
      ),
      default: said(
        'one of these words, for calls that no rule is about, where there is no `decide` (default: `ask` with `rules`; without, the annotations count)',
        oneOf('allow', 'deny', 'ask', 'require_approval'),
      ),
      expiresMs: said(
        'how long a decision may take, in milliseconds, all questions together, or `never` (default: as long as the caller waits; a call that is kept waits one day)',
        either('a whole number of at least 1, or "never"', whole(1), { const: 'never' }),
      ),
      remember: said(
        'whether `allow_always` and `reject_always` are offered and kept: for exactly these arguments, or for any where the person chose that; in one session (default: false)',
        FLAG,
      ),
      prompts: said(
        'channels to ask on, beside those of the host (default: none)',
        listOf(FUNCTION),
      ),
    },
  },
  dryRun: {
    description: 'a preview instead of the tool',
    options: {
      only: said(
        'names or globs (`*`) of the tools to preview; an empty list previews none (default: every tool)',
        listOf(TEXT),
      ),
      except: said('names or globs of the tools to run all the same (default: none)', listOf(TEXT)),
      message: said('how the preview begins (default: `(dry run)`)', TEXT),
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
  idempotency: {
    description: 'keeps answers of reads, and effects from happening twice',
    options: {
      key: said(
        'names the work of a call; sync or async, must answer a non-empty string (default: tool name and arguments)',
        FUNCTION,
      ),
      ttlMs: said('how long what came of a key is remembered (default: 600000)', whole(1)),
      store: said(
        'where claims are kept, see stores; `null` turns the layer off (default: a `memoryClaims()` of its own)',
        either('null or a store', { type: 'null' }, MADE),
      ),
      maxEntries: said("how many answers the layer's own store keeps (default: 256)", whole(1)),
      mode: said("`'cache'` or `'effect'` (default: `'cache'`)", oneOf('cache', 'effect')),
      scope: said(
        "whose keys are the same: `'session'`, `'global'`, or what a function of the call names (default: `'session'`)",
        either('"session", "global" or a function', oneOf('session', 'global'), FUNCTION),
      ),
      source: said(
        'where the tools come from, such as the name of an MCP server; keys of one source are never those of another (default: not told apart)',
        TEXT,
      ),
      leaseMs: said(
        'how long a process that claimed a key counts as alive without a word from it (default: 30000)',
        whole(1),
      ),
    },
  },
  outputLimit: {
    description: 'keeps large results aside, with a tool to read them',
    options: {
      maxBytes: said(
        'the most text of a result the model is given, the note included; at least 512 (default: 8,192)',
        whole(512),
      ),
      store: said(
        'where the whole text is kept: anything with the `write` of `OutputFiles` (default: `fileOutputs()`)',
        MADE,
      ),
      readTool: said(
        'the tool the note tells the model to read on with (default: `read_output`)',
        TEXT,
      ),
    },
  },
  rateLimit: {
    description: 'so many calls in total or per time, per tool, session or key',
    required: ['maxCalls'],
    options: {
      maxCalls: said('how many calls are admitted, in all or per window; 0 admits none', whole(0)),
      windowMs: said(
        'the window in milliseconds (default: none: the count never goes down)',
        whole(1),
      ),
      per: said(
        "`'tool'`, `'session'`, or a function of the call, sync or async, that answers a non-empty string (default: the layer as a whole)",
        either('"tool", "session" or a function', oneOf('tool', 'session'), FUNCTION),
      ),
      store: said(
        'where calls are counted, see stores (default: a `memoryCounters()` of its own)',
        MADE,
      ),
      message: said('how the error begins (default: `rate limit exceeded`)', TEXT),
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
};
