/** Which server a request of the client goes to. */

import type { JsonObject } from '../../core/json/json-value.ts';
import { isObject } from '../../core/json/json.ts';
import type { Frame } from '../proxy/link.ts';
import { CODES, isRequestId, metaOf, METHODS, objectAt } from '../wire.ts';
import { type ClientRequest, forward } from './client-requests.ts';
import { discover, initialize, openModern } from './greetings.ts';
import type { Listens } from './listens.ts';
import type { ListName, Lists } from './lists.ts';
import { splitName } from './names.ts';
import type { Resources } from './resources.ts';
import { declares, isReady, type Session } from './session.ts';
import type { Upstream } from './upstream.ts';

export interface Parts {
  readonly lists: Lists;
  readonly resources: Resources;
  readonly listens: Listens;
}

export interface Methods {
  handle(request: ClientRequest): void;
  /** The one server that declares what a method belongs to. */
  ownerOf(method: string): Upstream | null;
  /** Tells a server that came late or again what the client wants to read of its log. */
  joined(upstream: Upstream): void;
}

/** What may come before anything else. */
const OPENING = new Set<string>([METHODS.ping, METHODS.initialize, METHODS.discover]);

type Handler = (request: ClientRequest) => void | Promise<void>;

export function createMethods(session: Session, { lists, resources, listens }: Parts): Methods {
  const tasks = taskOwners();
  let level: Frame | null = null;
  const list =
    (name: ListName): Handler =>
    (request) =>
      lists.answer(request, name);

  const handlers = new Map<string, Handler>([
    [METHODS.ping, (request) => request.result({})],
    [METHODS.initialize, (request) => initialize(session, request)],
    [METHODS.discover, (request) => discover(session, request)],
    [METHODS.listTools, list('tools')],
    [METHODS.listPrompts, list('prompts')],
    [METHODS.listResources, list('resources')],
    [METHODS.listTemplates, list('templates')],
    [
      METHODS.callTool,
      (request) =>
        callByName(session, lists, 'tools', request, (upstream, answer) =>
          tasks.learn(upstream, request, answer),
        ),
    ],
    [METHODS.getPrompt, (request) => callByName(session, lists, 'prompts', request)],
    [METHODS.readResource, resources.read],
    [METHODS.subscribe, resources.subscribe],
    [METHODS.unsubscribe, resources.unsubscribe],
    [METHODS.complete, (request) => completion(session, resources, request)],
    [METHODS.listen, listens.listen],
    [
      METHODS.setLevel,
      (request) => {
        level = request.frame;
        return setLevel(session, request);
      },
    ],
  ]);
  const other: Handler = (request) => {
    const owner = tasks.ownerOf(request) ?? onlyDeclarer(session, request.method);
    if (owner === null) request.error(CODES.noMethod, 'no single server here declares this method');
    else forward(request, owner, []);
  };

  return {
    handle(request) {
      const isKnown = OPENING.has(request.method) || openModern(session, request);
      if (!isKnown)
        return request.error(CODES.invalidRequest, 'this connection is not initialized');
      // Not awaited, so that what can be done at once is done in order.
      const done = (handlers.get(request.method) ?? other)(request);
      done?.catch(() => request.error(CODES.internal, 'allium could not deal with this request'));
    },
    ownerOf: (method) => onlyDeclarer(session, method),
    joined(upstream) {
      if (level !== null && declares(upstream, 'logging')) upstream.request(level, [], () => {});
    },
  };
}

/** Tools and prompts: the name says whose it is. */
function callByName(
  session: Session,
  lists: Lists,
  kind: 'tools' | 'prompts',
  request: ClientRequest,
  onResult?: (upstream: Upstream, answer: Frame) => void,
): void {
  const target = splitName(session.upstreams, request.params.name);
  if (target === null || lists.isRefused(target.upstream, kind, target.name)) {
    return request.error(CODES.invalidParams, `none of the ${kind} here has this name`);
  }
  const { upstream, name } = target;
  forward(request, upstream, [{ path: ['params', 'name'], value: name }], (answer) =>
    onResult?.(upstream, answer),
  );
}

async function completion(
  session: Session,
  resources: Resources,
  request: ClientRequest,
): Promise<void> {
  const { name, uri } = objectAt(request.params, 'ref');
  const target = splitName(session.upstreams, name);
  if (target !== null)
    return forward(request, target.upstream, [
      { path: ['params', 'ref', 'name'], value: target.name },
    ]);
  const owner = typeof uri === 'string' ? await resources.ownerOf(request, uri) : null;
  if (owner === null)
    return request.error(CODES.invalidParams, 'no server here has what is to be completed');
  forward(request, owner, []);
}

/** To all that log. One that does not answer does not hold the client up. */
async function setLevel(session: Session, request: ClientRequest): Promise<void> {
  const logging = session.upstreams.filter((upstream) => declares(upstream, 'logging'));
  if (logging.length === 0) return request.error(CODES.noMethod, 'no server here has a log');
  let open = logging.length;
  for (const upstream of logging) {
    request.ask(upstream, request.frame, [], () => {
      open -= 1;
      session.watch.changed();
    });
  }
  await session.watch.until((isLate) => isLate || open === 0 || request.isOver(), session.slowMs);
  request.result({});
}

/**
 * `tasks/get` belongs to the capability `tasks`, and to an extension whose name ends in it or that
 * the method begins with.
 */
function onlyDeclarer({ upstreams }: Session, method: string): Upstream | null {
  const [area = ''] = method.split('/');
  const isOf = (extension: string): boolean =>
    extension.split('/').pop() === area || method.startsWith(`${extension}/`);
  const declaring = upstreams.filter((upstream) => {
    const standing = upstream.standing();
    if (standing.is !== 'ready') return false;
    const { capabilities } = standing.account;
    const extensions = [
      ...Object.keys(objectAt(capabilities, 'extensions')),
      ...Object.keys(objectAt(capabilities, 'experimental')),
    ];
    return Object.hasOwn(capabilities, area) || extensions.some(isOf);
  });
  return declaring.length === 1 ? (declaring[0] ?? null) : null;
}

const MAX_TASKS = 10_000;

/** Which server gave out which task. An id that two of them gave out is nobody's. */
function taskOwners() {
  const owners = new Map<string, Upstream | null>();
  return {
    learn(upstream: Upstream, request: ClientRequest, { message }: Frame): void {
      const result: JsonObject = isObject(message.result) ? message.result : {};
      const id = objectAt(result, 'task').taskId ?? result.taskId;
      if (typeof id !== 'string') return;
      const { progressToken } = metaOf(request.frame.message);
      if (isRequestId(progressToken)) upstream.keepToken(progressToken);
      owners.set(id, owners.has(id) && owners.get(id) !== upstream ? null : upstream);
      for (const oldest of owners.size > MAX_TASKS ? owners.keys() : [])
        return void owners.delete(oldest);
    },
    ownerOf({ method, params: { taskId } }: ClientRequest): Upstream | null {
      const owner =
        method.startsWith('tasks/') && typeof taskId === 'string' ? owners.get(taskId) : undefined;
      return owner !== undefined && owner !== null && isReady(owner) ? owner : null;
    },
  };
}
