/**
 * Layers that bound how often, how long and how much: limits, deadlines, repetition, size.
 * Descriptions are those of the tables in `docs/middleware`.
 */

import {
  either,
  FLAG,
  FUNCTION,
  type LayerSchema,
  listOf,
  MADE,
  mapOf,
  oneOf,
  said,
  TEXT,
  whole,
} from './parts.ts';

/** Their options as schemas, by layer. */
export const LIMITING_LAYERS: Readonly<Record<string, LayerSchema>> = {
  callLimit: {
    description: 'so many calls for a run or a session, and so many questions to people',
    needs: ['maxCalls', 'perTool', 'maxPrompts'],
    options: {
      maxCalls: said(
        'how many calls are admitted, of all tools together; 0 admits none (default: no limit)',
        whole(0),
      ),
      perTool: said(
        'how many calls of one tool are admitted, by name or glob (`*`); the first that matches counts (default: none)',
        mapOf(whole(0)),
      ),
      per: said(
        "whose counts these are: `'run'` or `'session'`; calls that name no run are counted by session (default: `'run'`)",
        oneOf('run', 'session'),
      ),
      maxPrompts: said(
        'how many questions may be put to people; 0 allows none (default: no limit)',
        whole(0),
      ),
      store: said(
        'where calls are counted, see stores; questions are counted in this process (default: counters in memory)',
        MADE,
      ),
      message: said('how the error begins (default: `call limit exceeded`)', TEXT),
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
  repeatGuard: {
    description: 'the same call again and again: tells the model, then stops it',
    options: {
      nudgeAfter: said(
        'from which same call on the result tells the model that it repeats itself (default: 3, or `stopAfter` where that is less)',
        whole(1),
      ),
      stopAfter: said(
        'how many same calls are let through; a further one is refused (default: 5)',
        whole(1),
      ),
      per: said(
        "whose calls are compared: `'run'` or `'session'`; calls that name no run are compared by session (default: `'run'`)",
        oneOf('run', 'session'),
      ),
      windowCalls: said(
        'among how many of the last calls the same ones are counted; more than `stopAfter` (default: 50)',
        whole(1),
      ),
      windowMs: said(
        'how long a call counts, in milliseconds (default: as long as it is among the last ones)',
        whole(1),
      ),
      ignore: said(
        'names of arguments that do not make a call another one (default: `reason`, where the tool does not declare it itself)',
        listOf(TEXT),
      ),
      except: said(
        'names or globs (`*`) of the tools that may be called again and again, such as those that poll (default: none)',
        listOf(TEXT),
      ),
      message: said('how the error begins (default: `the same call again`)', TEXT),
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
};
