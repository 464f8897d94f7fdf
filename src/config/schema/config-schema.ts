/** The JSON Schema of a file, for editors and for the checks. */

import type { JsonObject } from '../../index.ts';
import { optionsSchema } from '../../layer.ts';
import { LAYER_SCHEMAS, type LayerSchema, standsAlone } from './layer-schemas.ts';
import { either, FUNCTION, listOf, mapOf, members, oneOf, said, TEXT, whole } from './parts.ts';

/** Where the schema is known by this name. Nothing is fetched from there. */
export const SCHEMA_ID = 'urn:allium:schema:config';

const NAMES = listOf(TEXT);
const LIST: JsonObject = { type: 'array', title: 'a list' };

const GATE = {
  only: said(
    'names or globs (`*`) of the tools this layer is for; an empty list means none (default: every tool)',
    NAMES,
  ),
  except: said('names or globs (`*`) of the tools this layer is not for (default: none)', NAMES),
};

/** The parts of the file besides `layers`. */
const TOP: Readonly<Record<string, JsonObject>> = {
  $schema: said('the schema of this file, for editors', TEXT),
  version: said('the version of this format', { const: 1, title: '1' }),
  session: said(
    'what calls belong to where a host says nothing else',
    members({
      id: said('the session, which names the receipt file', TEXT),
      runId: said('the run', TEXT),
      model: said('the model that makes the calls', TEXT),
      provider: said('who runs that model', TEXT),
    }),
  ),
  state: said(
    'what must outlive the process',
    members(
      {
        dir: said('the state folder, relative to this file; `$ALLIUM_STATE_DIR` goes before', TEXT),
      },
      ['dir'],
    ),
  ),
  limits: said(
    'limits of the dispatcher',
    members({
      maxCallsPerRun: said('calls of one run', whole(0)),
      maxCallsPerSession: said('calls of one session', whole(0)),
      maxConcurrent: said('calls at the same time; more wait in order', whole(1)),
      maxArgsBytes: said('size of arguments', whole(2)),
      maxArgsDepth: said('depth of arguments', whole(1)),
      maxArgsValues: said('members and items in arguments, at any depth', whole(1)),
      maxResultBytes: said('a larger result is not kept at all', whole(1)),
      maxResultValues: said(
        'a result with more members and items, at any depth, is not kept at all',
        whole(1),
      ),
      maxPreviewBytes: said(
        'a larger result becomes an output file with a preview of this size',
        whole(64),
      ),
    }),
  ),
  onUnknownTool: said(
    'whether a call of an unknown tool is answered or thrown (default: repair)',
    oneOf('repair', 'throw'),
  ),
  onInvalidArgs: said(
    'whether arguments that do not fit are answered or thrown (default: repair)',
    oneOf('repair', 'throw'),
  ),
  secrets: said(
    'for tools that ask for them as hidden arguments; write `${NAME}` to take one from the environment',
    mapOf(TEXT),
  ),
};

const MCP_SERVER = members({
  name: said('what policies and records call it (default: the prefix, or `mcp`)', TEXT),
  command: said('the program that is the server', TEXT),
  args: said('its arguments', listOf({ type: 'string', title: 'a string' })),
  env: said(
    'variables it gets beside a few harmless ones; of ours it gets no others',
    mapOf({ type: 'string', title: 'a string' }),
  ),
  cwd: said(
    'the folder it runs in, relative to this file (default: the folder of this file)',
    TEXT,
  ),
  url: said('the address of a server that runs already, instead of a program', TEXT),
  headers: said(
    'headers for that address; write `${NAME}` to take one from the environment',
    mapOf({ type: 'string', title: 'a string' }),
  ),
});

const UPSTREAM = members({
  command: said('the program that is the server', TEXT),
  args: said('its arguments', listOf({ type: 'string', title: 'a string' })),
  env: said(
    'variables it gets beside those of the proxy',
    mapOf({ type: 'string', title: 'a string' }),
  ),
  cwd: said('the folder it runs in, relative to this file', TEXT),
  url: said('the address of a server that runs already', TEXT),
  headers: said(
    'sent to that address; write `${NAME}` to take a value from the environment',
    mapOf({ type: 'string', title: 'a string' }),
  ),
  prefix: said(
    'before the names of its tools where there are several servers (default: its name)',
    TEXT,
  ),
});

/** For `allium proxy`. */
const PROXY = members({
  servers: said(
    'the servers behind the proxy, by name; several become one, with their names before those of their tools',
    mapOf(UPSTREAM),
  ),
  onBadSchema: said(
    'what becomes of a tool whose schema cannot be used (default: hide)',
    oneOf('hide', 'pass'),
  ),
  trustAnnotations: said(
    'whether a server is believed when it says that a tool is harmless (default: false)',
    {
      type: 'boolean',
      title: 'true or false',
    },
  ),
  patienceMs: said('how long a client is kept waiting for a person (default: 50000)', whole(1)),
  waitMs: said(
    'how long a call waits for an answer from the queue where nobody can be asked (default: 0)',
    whole(0),
  ),
  returnMs: said(
    'how long a client may take to come back with an answer (default: 600000)',
    whole(1),
  ),
});

/** For the commands that ask people. */
const NOTIFY = either(
  '"terminal", or { command: [program, argument, …] }',
  oneOf('terminal'),
  members(
    {
      command: said(
        'the program and its arguments, run without a shell; the question is JSON on its standard input',
        {
          ...listOf(TEXT),
          minItems: 1,
        },
      ),
      timeoutMs: said('how long it may take, in milliseconds (default: 10000)', whole(1)),
    },
    ['command'],
  ),
);
const NOTIFY_WHAT =
  'how `allium proxy`, `serve` and `call` tell people of a call that waits: on the terminal, or by a command (default: nobody is told)';

/** By the key that says where the tools come from. */
export const TOOL_SOURCES: Readonly<Record<string, JsonObject>> = {
  module: said(
    'a module or package that exports tools, lists of tools or registries; `#name` takes one export',
    TEXT,
  ),
  artifacts: said(
    'the root of a project with tools written as Markdown files, relative to this file',
    TEXT,
  ),
  mcp: said('an MCP server', MCP_SERVER),
};

const LENIENT = said("whether files of the format's ancestor are taken (default: false)", {
  type: 'boolean',
  title: 'true or false',
});

const toolEntry = (source: string): JsonObject =>
  members(
    {
      [source]: TOOL_SOURCES[source] ?? {},
      ...(source === 'artifacts' ? { lenient: LENIENT } : {}),
      prefix: said('`gh` turns `search` into `gh_search` (default: none)', TEXT),
      only: said('names or globs (`*`) of the tools to take (default: all)', NAMES),
      except: said('names or globs (`*`) of the tools to leave out (default: none)', NAMES),
    },
    [source],
  );

const optionsOf = ({ options, needs, description }: LayerSchema): JsonObject =>
  said(description, {
    ...optionsSchema(options),
    ...(needs === undefined ? {} : demandOneOf(needs)),
  });

/**
 * Not by `anyOf`: its error would stand for all others of the object, a misspelt option among them.
 */
const demandOneOf = (names: readonly string[]): JsonObject => ({
  title: `an object with at least one of ${names.join(', ')}`,
  not: {
    allOf: names.map((name) => ({
      not: {
        type: 'object',
        properties: { [name]: { description: 'one that counts' } },
        required: [name],
      },
    })),
  },
});

function valueOf(name: string, layer: LayerSchema): JsonObject {
  const { instead, isFunction, description } = layer;
  const anyOf = [
    { $ref: `#/$defs/${name}Options` },
    ...(isFunction === true ? [FUNCTION] : []),
    ...(instead === undefined ? [] : [instead]),
  ];
  return said(description, { anyOf: standsAlone(layer) ? [...anyOf, { type: 'null' }] : anyOf });
}

const entryOf = (name: string, layer: LayerSchema): JsonObject =>
  members({ [name]: valueOf(name, layer), ...GATE }, [name]);

const USE = members(
  {
    use: said(
      'a layer from a module or package: `./my-layer.ts#myLayer`, or its default export without `#`',
      TEXT,
    ),
    with: said('the options of that layer', {}),
    ...GATE,
  },
  ['use'],
);

const layers = Object.entries(LAYER_SCHEMAS);
const withoutOptions = layers.filter(([, layer]) => standsAlone(layer)).map(([name]) => name);

/**
 * Draft 2020-12. Every part has a description, the options of the bundled layers too, so that
 * editors can complete them.
 */
export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: SCHEMA_ID,
  ...members(
    {
      ...TOP,
      layers: said('the stack; first is outermost', {
        type: 'array',
        items: {
          anyOf: [
            oneOf(...withoutOptions),
            ...layers.map(([name]) => ({ $ref: `#/$defs/${name}` })),
            { $ref: '#/$defs/use' },
          ],
        },
      }),
      proxy: said('for `allium proxy`: the servers, and how their clients are treated', PROXY),
      notify: said(NOTIFY_WHAT, NOTIFY),
      tools: said('where the tools come from (default: none)', {
        type: 'array',
        items: {
          anyOf: Object.keys(TOOL_SOURCES).map((source) => ({ $ref: `#/$defs/${source}` })),
        },
      }),
    },
    ['version', 'layers'],
  ),
  title: 'allium',
  description: 'A stack of layers around tools.',
  $defs: {
    function: {
      type: 'object',
      title: 'a function, written { $module: ./file.ts#name } or { $path: toolArgs.id }',
      description: 'a function: an export of a module, or one that reads a member of the call',
      properties: {
        $module: said('a module or package, with `#name` for one export', TEXT),
        $path: said('a member of the call, such as `toolArgs.orderId`', TEXT),
      },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
    },
    made: {
      type: 'object',
      title: 'an object that code makes, written { $module: ./file.ts#name }',
      description: 'an object that code makes: an export of a module',
      properties: { $module: said('a module or package, with `#name` for one export', TEXT) },
      required: ['$module'],
      additionalProperties: false,
    },
    // For the check: lists whose entries are looked at one by one, so that an error is about the
    // entry that was meant.
    top: members(
      {
        ...TOP,
        layers: said('the stack', LIST),
        proxy: said('for the proxy', PROXY),
        tools: said('the tools', LIST),
        notify: said(NOTIFY_WHAT, NOTIFY),
      },
      ['version', 'layers'],
    ),
    use: USE,
    ...Object.fromEntries(Object.keys(TOOL_SOURCES).map((source) => [source, toolEntry(source)])),
    ...Object.fromEntries(layers.map(([name, layer]) => [name, entryOf(name, layer)])),
    ...Object.fromEntries(layers.map(([name, layer]) => [`${name}Options`, optionsOf(layer)])),
    ...Object.fromEntries(
      layers.flatMap(([name, { instead }]) =>
        instead === undefined ? [] : [[`${name}Instead`, instead]],
      ),
    ),
  },
};
