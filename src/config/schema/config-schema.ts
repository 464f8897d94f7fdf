/** The JSON Schema of a file, for editors and for the checks. */

import type { JsonObject } from '../../index.ts';
import {
  type Expectation,
  expected,
  type Option,
  option,
  optionsSchema,
  type OptionTable,
} from '../../layer.ts';
import { LAYER_SCHEMAS, type LayerSchema, standsAlone } from './layer-schemas.ts';

/** Where the schema is known by this name. Nothing is fetched from there. */
export const SCHEMA_ID = 'urn:allium:schema:config';

const { boolean, either, integer, listOf, mapOf, oneOf, required, shape, string } = expected;

/** A part that nothing but the schema looks at. */
const part = (schema: JsonObject): Expectation => ({
  text: 'as the schema says',
  test: () => true,
  schema,
});

const NAMES = listOf(string);
const LIST = part({ type: 'array', title: 'a list' });
const ANY_TEXT = part({ type: 'string', title: 'a string' });

const GATE = {
  only: option(
    NAMES,
    'names or globs (`*`) of the tools this layer is for; an empty list means none',
    'every tool',
  ),
  except: option(NAMES, 'names or globs (`*`) of the tools this layer is not for', 'none'),
};

/** The parts of the file besides `layers`. */
// biome-ignore format: one row for each member
const TOP: OptionTable = {
  $schema: option(string, 'the schema of this file, for editors'),
  version: option(required(part({ const: 1, title: '1' })), 'the version of this format'),
  session: option(
    shape({
      id: option(string, 'the session, which names the receipt file'),
      runId: option(string, 'the run'),
      model: option(string, 'the model that makes the calls'),
      provider: option(string, 'who runs that model'),
    }),
    'what calls belong to where a host says nothing else',
  ),
  state: option(
    shape({
      dir: option(required(string), 'the state folder, relative to this file; `$ALLIUM_STATE_DIR` goes before'),
    }),
    'what must outlive the process',
  ),
  limits: option(
    shape({
      maxCallsPerRun: option(integer(0), 'calls of one run'),
      maxCallsPerSession: option(integer(0), 'calls of one session'),
      maxConcurrent: option(integer(1), 'calls at the same time; more wait in order'),
      maxArgsBytes: option(integer(2), 'size of arguments'),
      maxArgsDepth: option(integer(1), 'depth of arguments'),
      maxArgsValues: option(integer(1), 'members and items in arguments, at any depth'),
      maxResultBytes: option(integer(1), 'a larger result is not kept at all'),
      maxResultValues: option(integer(1), 'a result with more members and items, at any depth, is not kept at all'),
      maxPreviewBytes: option(integer(64), 'a larger result becomes an output file with a preview of this size'),
    }),
    'limits of the dispatcher',
  ),
  onUnknownTool: option(oneOf('repair', 'throw'), 'whether a call of an unknown tool is answered or thrown', 'repair'),
  onInvalidArgs: option(oneOf('repair', 'throw'), 'whether arguments that do not fit are answered or thrown', 'repair'),
  secrets: option(mapOf(string), 'for tools that ask for them as hidden arguments; write `${NAME}` to take one from the environment'),
};

// biome-ignore format: one row for each member
const MCP_SERVER = shape({
  name: option(string, 'what policies and records call it', 'the prefix, or `mcp`'),
  command: option(string, 'the program that is the server'),
  args: option(listOf(ANY_TEXT), 'its arguments'),
  env: option(mapOf(ANY_TEXT), 'variables it gets beside a few harmless ones; of ours it gets no others'),
  cwd: option(string, 'the folder it runs in, relative to this file', 'the folder of this file'),
  url: option(string, 'the address of a server that runs already, instead of a program'),
  headers: option(mapOf(ANY_TEXT), 'headers for that address; write `${NAME}` to take one from the environment'),
});

// biome-ignore format: one row for each member
const UPSTREAM = shape({
  command: option(string, 'the program that is the server'),
  args: option(listOf(ANY_TEXT), 'its arguments'),
  env: option(mapOf(ANY_TEXT), 'variables it gets beside those of the proxy'),
  cwd: option(string, 'the folder it runs in, relative to this file'),
  url: option(string, 'the address of a server that runs already'),
  headers: option(mapOf(ANY_TEXT), 'sent to that address; write `${NAME}` to take a value from the environment'),
  prefix: option(string, 'before the names of its tools where there are several servers', 'its name'),
});

/** For `allium proxy`. */
// biome-ignore format: one row for each member
const PROXY = shape({
  servers: option(mapOf(UPSTREAM), 'the servers behind the proxy, by name; several become one, with their names before those of their tools'),
  onBadSchema: option(oneOf('hide', 'pass'), 'what becomes of a tool whose schema cannot be used', 'hide'),
  trustAnnotations: option(boolean, 'whether a server is believed when it says that a tool is harmless', 'false'),
  patienceMs: option(integer(1), 'how long a client is kept waiting for a person', '50000'),
  waitMs: option(integer(0), 'how long a call waits for an answer from the queue where nobody can be asked', '0'),
  returnMs: option(integer(1), 'how long a client may take to come back with an answer', '600000'),
});

/** For the commands that ask people. */
const NOTIFY = option(
  either(
    '"terminal", or { command: [program, argument, …] }',
    oneOf('terminal'),
    shape({
      command: option(
        required(part({ ...listOf(string).schema, minItems: 1 })),
        'the program and its arguments, run without a shell; the question is JSON on its standard input',
      ),
      timeoutMs: option(integer(1), 'how long it may take, in milliseconds', '10000'),
    }),
  ),
  'how `allium proxy`, `serve` and `call` tell people of a call that waits: on the terminal, or by a command',
  'nobody is told',
);

/** By the key that says where the tools come from. */
// biome-ignore format: one row for each source
export const TOOL_SOURCES: OptionTable<Record<'module' | 'artifacts' | 'mcp', unknown>> = {
  module: option(string, 'a module or package that exports tools, lists of tools or registries; `#name` takes one export'),
  artifacts: option(string, 'the root of a project with tools written as Markdown files, relative to this file'),
  mcp: option(MCP_SERVER, 'an MCP server'),
};

const LENIENT = option(boolean, "whether files of the format's ancestor are taken", 'false');

// biome-ignore format: one row for each member
const toolEntry = (source: string, kind: Option): JsonObject =>
  optionsSchema({
    [source]: required(kind),
    ...(source === 'artifacts' ? { lenient: LENIENT } : {}),
    prefix: option(string, '`gh` turns `search` into `gh_search`', 'none'),
    only: option(NAMES, 'names or globs (`*`) of the tools to take', 'all'),
    except: option(NAMES, 'names or globs (`*`) of the tools to leave out', 'none'),
  });

const optionsOf = ({ options, needs, description }: LayerSchema): JsonObject => ({
  ...optionsSchema(options),
  ...(needs === undefined ? {} : demandOneOf(needs)),
  description,
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

function valueOf(name: string, layer: LayerSchema): Option {
  const { instead, isFunction, description } = layer;
  const anyOf = [
    { $ref: `#/$defs/${name}Options` },
    ...(isFunction === true ? [expected.function.schema] : []),
    ...(instead === undefined ? [] : [instead]),
  ];
  const schema = { anyOf: standsAlone(layer) ? [...anyOf, { type: 'null' }] : anyOf };
  return option(required(part(schema)), description);
}

const entryOf = (name: string, layer: LayerSchema): JsonObject =>
  optionsSchema({ [name]: valueOf(name, layer), ...GATE });

const USE = optionsSchema({
  use: option(
    required(string),
    'a layer from a module or package: `./my-layer.ts#myLayer`, or its default export without `#`',
  ),
  with: option(part({}), 'the options of that layer'),
  ...GATE,
});

const layers = Object.entries(LAYER_SCHEMAS);
const withoutOptions = layers.filter(([, layer]) => standsAlone(layer)).map(([name]) => name);

const entries = [
  oneOf(...withoutOptions).schema,
  ...layers.map(([name]) => ({ $ref: `#/$defs/${name}` })),
  { $ref: '#/$defs/use' },
];
const sources = Object.keys(TOOL_SOURCES).map((source) => ({ $ref: `#/$defs/${source}` }));

const MODULE = option(string, 'a module or package, with `#name` for one export');

/**
 * Draft 2020-12. Every part has a description, the options of the bundled layers too, so that
 * editors can complete them.
 */
export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: SCHEMA_ID,
  ...optionsSchema({
    ...TOP,
    layers: option(
      required(part({ type: 'array', items: { anyOf: entries } })),
      'the stack; first is outermost',
    ),
    proxy: option(PROXY, 'for `allium proxy`: the servers, and how their clients are treated'),
    notify: NOTIFY,
    tools: option(
      part({ type: 'array', items: { anyOf: sources } }),
      'where the tools come from',
      'none',
    ),
  }),
  title: 'allium',
  description: 'A stack of layers around tools.',
  $defs: {
    function: {
      ...optionsSchema({
        $module: MODULE,
        $path: option(string, 'a member of the call, such as `toolArgs.orderId`'),
      }),
      title: 'a function, written { $module: ./file.ts#name } or { $path: toolArgs.id }',
      description: 'a function: an export of a module, or one that reads a member of the call',
      minProperties: 1,
      maxProperties: 1,
    },
    made: {
      ...optionsSchema({ $module: required(MODULE) }),
      title: 'an object that code makes, written { $module: ./file.ts#name }',
      description: 'an object that code makes: an export of a module',
    },
    // For the check: lists whose entries are looked at one by one, so that an error is about the
    // entry that was meant.
    top: optionsSchema({
      ...TOP,
      layers: option(required(LIST), 'the stack'),
      proxy: option(PROXY, 'for the proxy'),
      tools: option(LIST, 'the tools'),
      notify: NOTIFY,
    }),
    use: USE,
    ...Object.fromEntries(
      Object.entries(TOOL_SOURCES).map(([source, kind]) => [source, toolEntry(source, kind)]),
    ),
    ...Object.fromEntries(layers.map(([name, layer]) => [name, entryOf(name, layer)])),
    ...Object.fromEntries(layers.map(([name, layer]) => [`${name}Options`, optionsOf(layer)])),
    ...Object.fromEntries(
      layers.flatMap(([name, { instead }]) =>
        instead === undefined ? [] : [[`${name}Instead`, instead]],
      ),
    ),
  },
};
