/** The options of the layers that watch over a run as schemas. Descriptions are those of the tables in `docs/middleware`. */

import type { JsonObject } from '../../index.ts';
import { POLICY_FACTORIES } from '../policy-factories.ts';
import {
  either,
  FLAG,
  FUNCTION,
  type LayerSchema,
  listOf,
  MADE,
  mapOf,
  members,
  oneOf,
  said,
  TEXT,
  whole,
} from './parts.ts';

/** A policy by its name, or a checker that code makes. */
const CHECKER: JsonObject = {
  ...members({
    ...Object.fromEntries(
      [...POLICY_FACTORIES.keys()].map((name) => [
        name,
        said(`the options of ${name}, see the page about policies`, { type: ['object', 'null'] }),
      ]),
    ),
    $module: said('a checker or policy that a module exports', TEXT),
  }),
  ...{
    title: 'one policy by its name, or { $module: ./file.ts#name }',
    minProperties: 1,
    maxProperties: 1,
  },
};

/** A hook as a file of the stack has it: the format of hook files, without what says where it stands. */
const HOOK: JsonObject = members(
  {
    name: said('what it is called in records', TEXT),
    event: said('`tool.pre` or `tool.post`', oneOf('tool.pre', 'tool.post')),
    priority: said('lower ones are asked first (default: 0)', {
      type: 'number',
      title: 'a number',
    }),
    when: said(
      'an expression over `event` and `payload`; where it is not true, the hook is not asked (default: always)',
      TEXT,
    ),
    script: said('defines `handle(event, payload)`', TEXT),
  },
  ['name', 'event', 'script'],
);

/** Limits of a run, and what is noticed over many calls. */
export const LAYERS_OF_RUNS: Readonly<Record<string, LayerSchema>> = {
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
  definitionPin: {
    description: 'tools are held to what they said of themselves when they were trusted',
    options: {
      store: said('where pins are kept (default: files in `pins` of the state folder)', MADE),
      source: said(
        'where the tools come from, such as the name of an MCP server; every source has pins of its own (default: `tools`)',
        TEXT,
      ),
      onNew: said(
        "what becomes of a tool that comes to a source which has pins: `'pin'`, or `'refuse'` until somebody accepts it (default: `'pin'`)",
        oneOf('pin', 'refuse'),
      ),
      onChange: said(
        "whether calls of a tool that has changed are refused (`'refuse'`), or only recorded (`'warn'`) (default: `'refuse'`)",
        oneOf('refuse', 'warn'),
      ),
      message: said(
        'how the error begins, and what is shown in the place of the description (default: what is the matter with the tool)',
        TEXT,
      ),
      onQuarantine: said(
        'told about a tool that is not what was accepted, once for each definition, with what differs (default: a warning of the process)',
        FUNCTION,
      ),
    },
  },
  hooks: {
    description: 'scripts that have a say before a tool runs and after it has',
    needs: ['hooks', 'dir'],
    options: {
      hooks: said(
        'the hooks, as `loadArtifacts` gives them or written out (default: those of `dir`)',
        listOf(HOOK),
      ),
      dir: said('a project whose hook files are loaded with the first call (default: none)', TEXT),
      pool: said(
        'where the scripts run; one that is given is not closed (default: a pool of its own, made with the first script)',
        MADE,
      ),
      grants: said(
        'what the built-ins of the scripts may reach at most (default: what each file asks for)',
        {
          type: 'object',
          title: 'an object',
        },
      ),
      effects: said(
        'built-ins that act and that hooks get only where they are named: `exec.run`, `fs.write` (default: none)',
        listOf(oneOf('exec.run', 'fs.write')),
      ),
      deadlineMs: said('how long one script may take, in milliseconds (default: 5000)', whole(1)),
    },
  },
  permissions: {
    description:
      'what a call is about to do has to be allowed: by checkers, or by a person they send for',
    options: {
      checkers: said(
        'policies and functions that are asked about everything a call is about to do; any deny counts before any ask, and any ask before any allow',
        listOf(CHECKER),
      ),
      fallback: said(
        "for what a tool proposes and nobody has an opinion on: `'allow'`, `'deny'`, `'ask'` or `'require_approval'` (default: `'deny'`)",
        oneOf('allow', 'deny', 'ask', 'require_approval'),
      ),
      shadow: said(
        'nothing is refused or asked; what would have been is on record, and told to the function (default: `false`)',
        either('true, false or a function', FLAG, FUNCTION),
      ),
      hide: said(
        'does not show the model what the checkers are certain never to allow; not in shadow mode, which refuses nothing (default: `false`)',
        FLAG,
      ),
      expiresMs: said(
        'how long somebody may take to approve, in milliseconds, or `never` (default: as long as the caller waits; a call that is kept waits one day)',
        either('a whole number of at least 1, or "never"', whole(1), { const: 'never' }),
      ),
    },
    required: ['checkers'],
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
};
