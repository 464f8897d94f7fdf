/** Messages that two readers of the same JSON could take for two different ones. */

import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import { foldedName, type RefusedMessage } from '../../core/wire/json-rpc.ts';
import { METHODS, type WireMessage } from '../wire.ts';

/**
 * Why a message goes nowhere; `null` for one that means the same to every reader. Some readers take
 * names without regard to case: to them `Method` beside `method` is a call that no layer has seen.
 * So the names that the protocol reads stand here in one spelling only. In data (results'
 * `structuredContent`, schemas, `_meta`, params of methods we do not know) names may differ by
 * case, except in the arguments of a call: there a person approves one of the two, and a server
 * could take the other.
 */
export function refusalOf(message: WireMessage): RefusedMessage | null {
  const problem = doubtAbout(message);
  if (problem === null) return null;
  const names = Object.keys(message);
  const isAnswer = !names.some((name) => foldedName(name) === 'method');
  const isOne = names.every((name) => name === 'id' || foldedName(name) !== 'id');
  const { id } = message;
  return {
    problem,
    isAnswer,
    ...(isOne && (typeof id === 'string' || typeof id === 'number') ? { id } : {}),
  };
}

function doubtAbout(message: WireMessage): string | null {
  return (
    doubtInNames(message, MESSAGE) ??
    doubtInKind(message) ??
    doubtInMethod(message.method) ??
    doubtInParts(message)
  );
}

const KINDS = ['method', 'result', 'error'] as const;

/** A message with `method` and `result` is a request to one reader and an answer to another. */
function doubtInKind(message: WireMessage): string | null {
  let kinds = 0;
  for (const name of KINDS) if (Object.hasOwn(message, name)) kinds += 1;
  if (kinds < 2) return null;
  return `a message with ${KINDS.filter((name) => Object.hasOwn(message, name)).join(' and ')}`;
}

/** Methods that are acted on here. */
const OWN_METHODS: ReadonlySet<string> = new Set([
  ...[METHODS.initialize, METHODS.discover, METHODS.listTools, METHODS.callTool, METHODS.elicit],
  ...[METHODS.cancelled, METHODS.progress, METHODS.toolsChanged],
]);

/** A reader in C ends `tools/call\0` at its zero. */
function doubtInMethod(method: JsonValue | undefined): string | null {
  if (typeof method !== 'string' || OWN_METHODS.has(method)) return null;
  if (!/^[\x21-\x7e]+$/.test(method)) return 'a method that is not visible ASCII';
  return OWN_METHODS.has(method.toLowerCase()) ? 'a method in another spelling' : null;
}

function doubtInParts(message: WireMessage): string | null {
  const { params, result, error, method } = message;
  if (isObject(error)) return doubtInNames(error, ERROR);
  if (isObject(result)) return doubtInResult(result);
  if (!isObject(params)) return null;
  const doubt = doubtInNames(params, PARAMS) ?? doubtInMeta(params._meta);
  return doubt === null && method === METHODS.callTool ? doubtInArguments(params.arguments) : doubt;
}

function doubtInResult(result: JsonObject): string | null {
  const { tools, content } = result;
  const doubt = doubtInNames(result, RESULT) ?? doubtInMeta(result._meta);
  return doubt ?? doubtInItems(tools, doubtInTool) ?? doubtInItems(content, doubtInBlock);
}

function doubtInItems(
  items: JsonValue | undefined,
  doubtIn: (item: JsonObject) => string | null,
): string | null {
  if (!Array.isArray(items)) return null;
  for (const item of items as readonly JsonValue[]) {
    const doubt = isObject(item) ? doubtIn(item) : null;
    if (doubt !== null) return doubt;
  }
  return null;
}

const doubtInTool = (tool: JsonObject): string | null => doubtInNames(tool, TOOL);

const doubtInBlock = (block: JsonObject): string | null =>
  doubtInNames(block, BLOCK) ??
  (isObject(block.resource) ? doubtInNames(block.resource, BLOCK) : null);

const doubtInMeta = (meta: JsonValue | undefined): string | null =>
  isObject(meta) ? doubtInNames(meta, META) : null;

/**
 * At every depth. Keeps a list instead of recursing: nesting is as deep as the other side likes.
 */
function doubtInArguments(args: JsonValue | undefined): string | null {
  let waiting: object[] | null = null;
  for (let value: unknown = args; isHolder(value); value = waiting?.pop()) {
    const doubt = isObject(value) ? doubtInNames(value, NO_NAMES) : null;
    if (doubt !== null) return doubt;
    if (Array.isArray(value)) {
      for (const item of value) if (isHolder(item)) (waiting ??= []).push(item);
    } else {
      for (const name in value) {
        const member = value[name as keyof typeof value];
        if (isHolder(member)) (waiting ??= []).push(member);
      }
    }
  }
  return null;
}

const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Why arguments go to no tool: one is named like one that the tool declares, but in another
 * spelling. A rule about `path` does not see `Path`, and a server that reads names without regard
 * to case takes it for the path all the same. Follows `properties` in depth.
 */
export function doubtBySchema(args: JsonObject, schema: unknown): string | null {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  for (const name in args) {
    // A name that the tool declares is no other spelling of one.
    if (Object.hasOwn(properties, name)) continue;
    const doubt = doubtInNames(args, declaredNames(Object.keys(properties)));
    if (doubt !== null) return doubt;
    break;
  }
  for (const name in args) {
    const value = args[name];
    const inner =
      isObject(value) && Object.hasOwn(properties, name)
        ? doubtBySchema(value, properties[name])
        : null;
    if (inner !== null) return inner;
  }
  return null;
}

/**
 * A tool that declares `a` and `A` tells them apart itself, so that neither is another spelling of
 * one.
 */
function declaredNames(names: readonly string[]): Names {
  const declared = new Map<string, string>();
  const twice = new Set<string>();
  for (const name of names) {
    const folded = foldedName(name);
    if (declared.has(folded)) twice.add(folded);
    declared.set(folded, name);
  }
  for (const folded of twice) declared.delete(folded);
  return declared;
}

/** The names of a place by what each folds to, and by itself. */
type Names = ReadonlyMap<string, string>;

const namesOf = (...names: readonly string[]): Names =>
  new Map([
    ...names.map((name) => [foldedName(name), name] as const),
    ...names.map((name) => [name, name] as const),
  ]);

const NO_NAMES = namesOf();
const MESSAGE = namesOf('jsonrpc', 'id', 'method', 'params', 'result', 'error');
const ERROR = namesOf('code', 'message', 'data');
const META = namesOf(
  'progressToken',
  ...['protocolVersion', 'clientCapabilities', 'clientInfo', 'subscriptionId'].map(
    (name) => `io.modelcontextprotocol/${name}`,
  ),
);
const PARAMS = namesOf(
  ...[
    'name',
    'arguments',
    '_meta',
    'task',
    'uri',
    'cursor',
    'ref',
    'requestId',
    'progressToken',
    'requestState',
    'inputResponses',
  ],
  ...[
    'message',
    'requestedSchema',
    'mode',
    'url',
    'protocolVersion',
    'capabilities',
    'clientInfo',
    'level',
    'logger',
  ],
);
const RESULT = namesOf(
  ...[
    'content',
    'structuredContent',
    'isError',
    '_meta',
    'tools',
    'nextCursor',
    'resultType',
    'task',
    'taskId',
    'inputRequests',
  ],
  ...[
    'requestState',
    'protocolVersion',
    'supportedVersions',
    'capabilities',
    'serverInfo',
    'instructions',
    'action',
  ],
);
const TOOL = namesOf(
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'execution',
  'icons',
  '_meta',
);
const BLOCK = namesOf(
  'type',
  'text',
  'data',
  'blob',
  'mimeType',
  'uri',
  'resource',
  'name',
  'title',
  'description',
  'annotations',
  '_meta',
);

function doubtInNames(object: object, names: Names): string | null {
  let seen: Set<string> | null = null;
  for (const name in object) {
    // In its own spelling: any other of it is refused below.
    if (names.get(name) === name) continue;
    const folded = foldedName(name);
    const known = names.get(folded);
    if (known !== undefined && known !== name)
      return `a member whose name could be taken for "${known}"`;
    // As long as all are what they fold to, no two fold to the same.
    if (seen === null && folded !== name) seen = namesBefore(object, name);
    if (seen?.has(folded) === true)
      return 'two members whose names differ only by case or by characters that are not shown';
    seen?.add(folded);
  }
  return null;
}

function namesBefore(object: object, name: string): Set<string> {
  const names = Object.keys(object);
  return new Set(names.slice(0, names.indexOf(name)));
}
