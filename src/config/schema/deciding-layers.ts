/**
 * Layers that decide whether a call may run. Descriptions are those of the tables in
 * `docs/middleware`.
 */

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
  title: 'one policy by its name, or { $module: ./file.ts#name }',
  minProperties: 1,
  maxProperties: 1,
};

/**
 * A hook as a file of the stack has it: the format of hook files, without what says where it
 * stands.
 */
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

/** Their options as schemas, by layer. */
export const DECIDING_LAYERS: Readonly<Record<string, LayerSchema>> = {
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
};
