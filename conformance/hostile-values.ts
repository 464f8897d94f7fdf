/** Things that can be thrown and returned, and that break code which trusts them. */

import { type Context, createContext, runInContext } from 'node:vm';
import { ok, refuse } from '../src/core/onion/results.ts';
import type { ToolCall } from '../src/core/contract/call.ts';
import { makeCall } from './test-kit.ts';

export type HostileThrowable = readonly [name: string, make: () => unknown];
export type MalformedResult = readonly [name: string, make: (call: ToolCall) => unknown];

const explode = (): never => {
  throw new Error('touched');
};

/** An object that throws when one member is read. */
const trapOn = (member: PropertyKey, target: object = {}): object =>
  Object.defineProperty(target, member, { get: explode, configurable: true });

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

/** A handler that has every trap there is, and throws in each. */
const throwingTraps: ProxyHandler<object> = new Proxy({}, { get: () => explode });
const untouchable = (): object => new Proxy({}, throwingTraps);

/** Answers every read with itself and every call with nothing. */
function endless(): object {
  const self: object = new Proxy(() => {}, {
    get: () => self,
    has: () => true,
    apply: () => undefined,
  });
  return self;
}

const cyclic = (): object => {
  const self: Record<string, unknown> = { message: 'cycle' };
  self['self'] = self;
  return self;
};

const errorWith = (members: object): Error => Object.assign(new Error('with members'), members);

const errorAs = (member: PropertyKey, value: unknown): Error =>
  Object.defineProperty(new Error('changed'), member, { value });

/** A member that shows another value each time it is read. */
function fickle(member: string): object {
  let reads = 0;
  return Object.defineProperty({}, member, {
    get: () => ((reads += 1), reads === 1 ? 'first' : { second: reads }),
    enumerable: true,
  });
}

function causeLoop(): Error {
  const error: Error = new Error('loop');
  error.cause = error;
  return error;
}

function deep(levels: number): object {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level += 1) value = { cause: value };
  return value;
}

// One realm for all: making one takes a millisecond.
let realm: Context | undefined;
const foreign = (source: string): unknown =>
  runInContext(source, (realm ??= createContext({}))) as unknown;

const quietRejection = (reason: unknown): Promise<unknown> => {
  const rejected = Promise.reject(reason);
  rejected.catch(() => {});
  return rejected;
};

/**
 * Everything a layer or a tool may throw, from the careless to the malicious. Every call makes a
 * fresh value.
 */
export const hostileThrowables: readonly HostileThrowable[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['false', () => false],
  ['zero', () => 0],
  ['NaN', () => Number.NaN],
  ['minus infinity', () => Number.NEGATIVE_INFINITY],
  ['a bigint', () => 10n ** 30n],
  ['a symbol', () => Symbol('thrown')],
  ['a well-known symbol', () => Symbol.toPrimitive],
  ['an empty string', () => ''],
  ['a string', () => 'plain text'],
  ['a huge string', () => 'x'.repeat(1_000_000)],
  ['a string of line breaks', () => '\r\n\u2028\u2029\u0000'],
  ['a string that forges a log line', () => 'done\n[result of echo]\nall good'],
  ['a string with half a surrogate pair', () => 'broken \ud800'],
  ['a string that turns text around', () => 'abc\u202Ecba'],
  ['a function', () => () => 'called'],
  ['a class', () => Date],
  ['an array', () => ['a', 'b']],
  ['a sparse array', () => new Array<undefined>(1_000_000)],
  ['an empty object', () => ({})],
  ['a frozen object', () => Object.freeze({ message: 'frozen' })],
  ['an object without a prototype', () => Object.create(null) as unknown],
  ['an object that is its own member', cyclic],
  ['a deep object', () => deep(5_000)],
  ['a revoked proxy', revoked],
  ['a proxy whose every trap throws', untouchable],
  ['a proxy that answers everything with itself', endless],
  [
    'an error behind a proxy whose every trap throws',
    () => new Proxy(new Error('hidden'), throwingTraps),
  ],
  [
    'a proxy that claims to be an error',
    () => new Proxy({}, { getPrototypeOf: () => Error.prototype, get: explode }),
  ],
  ['an error', () => new Error('plain')],
  ['an error without a message', () => new Error('')],
  ['an error with a message that throws', () => trapOn('message', new Error('x'))],
  ['an error with a name that throws', () => trapOn('name', new Error('x'))],
  ['an error with a stack that throws', () => trapOn('stack', new Error('x'))],
  ['an error with a cause that throws', () => trapOn('cause', new Error('x'))],
  ['an error with a code that throws', () => trapOn('code', new Error('x'))],
  ['an error with a constructor that throws', () => trapOn('constructor', new Error('x'))],
  ['an error with a tag that throws', () => trapOn(Symbol.toStringTag, new Error('x'))],
  ['an object with a then that throws', () => trapOn('then')],
  ['an object with a toString that throws', () => ({ toString: explode })],
  ['an object with a toJSON that throws', () => ({ toJSON: explode })],
  ['an object with a toPrimitive that throws', () => ({ [Symbol.toPrimitive]: explode })],
  ['an object with a valueOf that throws', () => ({ valueOf: explode })],
  [
    'an object with an inspect that throws',
    () => ({ [Symbol.for('nodejs.util.inspect.custom')]: explode }),
  ],
  ['an object with an iterator that throws', () => ({ [Symbol.iterator]: explode })],
  ['an error with a message that is a symbol', () => errorAs('message', Symbol('message'))],
  ['an error with a message that is an object', () => errorAs('message', { toString: explode })],
  ['an error with a message that is a revoked proxy', () => errorAs('message', revoked())],
  ['an error with a huge message', () => new Error('y'.repeat(1_000_000))],
  ['an error that says something else each time', () => fickle('message')],
  ['an error that causes itself', causeLoop],
  ['an error with a revoked proxy as its cause', () => new Error('outer', { cause: revoked() })],
  [
    'an error that carries a token',
    () =>
      errorWith({
        config: { headers: { authorization: 'Bearer secret-token' } },
        token: 'secret-token',
      }),
  ],
  [
    'an error that calls itself an AlliumError',
    () => errorWith({ name: 'AlliumError', code: 'ERR_CALL_REFUSED', result: { ok: true } }),
  ],
  [
    'an AggregateError',
    () => new AggregateError([new Error('one'), undefined, revoked()], 'several'),
  ],
  ['an AggregateError with errors that throw', () => trapOn('errors', new AggregateError([], 'x'))],
  ['a DOMException', () => new DOMException('aborted', 'AbortError')],
  ['the reason of an aborted signal', () => AbortSignal.abort().reason as unknown],
  ['a system error', () => errorWith({ code: 'ECONNRESET', errno: -104, syscall: 'read' })],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['an error without a prototype', () => Object.setPrototypeOf(new Error('bare'), null) as unknown],
  ['an error of another realm', () => foreign('new Error("foreign")')],
  ['a TypeError of another realm', () => foreign('try { null.x } catch (error) { error }')],
  ['a promise of another realm', () => foreign('Promise.resolve(1)')],
  ['a promise', () => Promise.resolve('value')],
  ['a rejected promise', () => quietRejection(revoked())],
  ['a promise that never settles', () => new Promise(() => {})],
  ['a thenable that never settles', () => ({ then: () => {} })],
  ['a thenable that throws', () => ({ then: explode })],
  [
    'a thenable that settles twice',
    () => ({ then: (resolve: (value: number) => void) => (resolve(1), resolve(2)) }),
  ],
  ['a date that is none', () => new Date(Number.NaN)],
  ['a generator', () => (function* empty() {})()],
  ['a typed array', () => new Uint8Array(8)],
  [
    'an object called __proto__',
    () => JSON.parse('{"__proto__":{"polluted":true},"message":"proto"}') as unknown,
  ],
];

const realOf = (call: ToolCall) => ok(call, { real: true });

/** A promise whose own `then` is not the one of promises. */
const withOwnThen = (then: unknown): unknown =>
  Object.assign(Promise.resolve({ ok: true }), { then });

/**
 * What a layer or an executor may return in place of a result of its call. Left out are things that
 * never settle: nobody can answer for them but a timeout.
 */
export const malformedResults: readonly MalformedResult[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['true', () => true],
  ['zero', () => 0],
  ['NaN', () => Number.NaN],
  ['a bigint', () => 7n],
  ['a symbol', () => Symbol('result')],
  ['an empty string', () => ''],
  ['a string', () => 'done'],
  ['a function', () => () => 'done'],
  ['an array', () => []],
  ['an empty object', () => ({})],
  ['an object without a prototype', () => Object.create(null) as unknown],
  ['an error', () => new Error('returned')],
  ['a date', () => new Date(0)],
  ['a map', () => new Map([['ok', true]])],
  ['the call', (call) => call],
  [
    'a literal',
    (call) => ({
      ok: true,
      status: 'ok',
      toolName: call.toolName,
      toolCallId: call.callId,
      result: 1,
      content: [],
    }),
  ],
  ['an MCP result', () => ({ content: [{ type: 'text', text: 'done' }], isError: false })],
  ['a copy of a result by spread', (call) => ({ ...realOf(call) })],
  [
    'a changed copy of a result',
    (call) => ({ ...refuse(call, 'consent_denied', 'No.'), ok: true, status: 'ok' }),
  ],
  ['a copy of a result by Object.assign', (call) => Object.assign({}, realOf(call))],
  [
    'a copy of a result with all descriptors',
    (call) => Object.defineProperties({}, Object.getOwnPropertyDescriptors(realOf(call))),
  ],
  [
    'a copy of a result through JSON',
    (call) => JSON.parse(JSON.stringify(realOf(call))) as unknown,
  ],
  ['an object that inherits from a result', (call) => Object.create(realOf(call)) as unknown],
  ['a proxy of a result', (call) => new Proxy(realOf(call), {})],
  ['a proxy of a result whose every trap throws', (call) => new Proxy(realOf(call), throwingTraps)],
  ['a list with a result', (call) => [realOf(call)]],
  ['a function that makes a result', (call) => () => realOf(call)],
  ['a result of another call', () => ok(makeCall({ callId: 'another' }), 'foreign')],
  [
    'a result of another call with the same id',
    (call) => ok(makeCall({ callId: call.callId, toolName: call.toolName }), 'foreign'),
  ],
  [
    'a promise of a result of another call',
    async () => ok(makeCall({ callId: 'another' }), 'foreign'),
  ],
  ['a promise of nothing', async () => undefined],
  ['a promise of a literal', async () => ({ ok: true })],
  ['a promise of a copy by spread', async (call) => ({ ...realOf(call) })],
  ['a promise of a revoked proxy', () => Promise.resolve([revoked()]).then(([value]) => value)],
  ['a promise that rejects with nothing', () => Promise.reject(undefined)],
  ['a promise with a then that is no function', () => withOwnThen('then')],
  ['a promise with a then that throws', () => withOwnThen(explode)],
  [
    'a promise with a then that answers nothing',
    () => withOwnThen((done: (value: unknown) => void) => done(1)),
  ],
  [
    'a promise with a then that answers twice',
    () => withOwnThen((done: (value: unknown) => void) => (done(1), done(2))),
  ],
  ['a promise with a constructor that throws', () => trapOn('constructor', Promise.resolve())],
  ['a promise of another realm', () => foreign('Promise.resolve({ ok: true })')],
  [
    'a thenable of a literal',
    () => ({ then: (resolve: (value: unknown) => void) => resolve({ ok: true }) }),
  ],
  ['a thenable that throws', () => ({ then: explode })],
  [
    'a thenable that rejects',
    () => ({ then: (_: unknown, reject: (reason: unknown) => void) => reject(revoked()) }),
  ],
  [
    'a thenable that settles twice',
    () => ({ then: (resolve: (value: unknown) => void) => (resolve(1), resolve(2)) }),
  ],
  [
    'a thenable that settles and throws',
    () => ({ then: (resolve: (value: unknown) => void) => (resolve(undefined), explode()) }),
  ],
  ['an object with a then that throws', () => trapOn('then')],
  ['an object with a then that is no function', () => ({ then: true })],
  ['a revoked proxy', revoked],
  ['a proxy whose every trap throws', untouchable],
  [
    'a proxy whose every member is a proxy that throws',
    () => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : untouchable()) }),
  ],
  [
    'a proxy that claims to be a promise',
    () => new Proxy({}, { getPrototypeOf: () => Promise.prototype, get: () => undefined }),
  ],
  ['a deep object', () => deep(5_000)],
  ['an object that is its own member', cyclic],
];
