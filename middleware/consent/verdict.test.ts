import { describe, expect, it } from 'vitest';
import { echoExecutor, hostileThrowables, makeCall } from '../../conformance/index.ts';
import { composeToolCallers, type ToolCaller } from '../../src/index.ts';
import { consent } from './consent.ts';

const STRINGS = [
  ...[
    '',
    ' ',
    'yes',
    'y',
    'no',
    'ok',
    'true',
    'false',
    'True',
    '1',
    '0',
    'null',
    'undefined',
    'allow',
    'allowed',
    'Allow',
    'deny',
    'denied',
  ],
  ...[
    'Approved',
    'APPROVED',
    'approved ',
    ' approved',
    'approve',
    'approved\n',
    'approved\0',
    'approved\u200b',
    'аpproved',
    'approvеd',
    'accept',
  ],
  ...[
    'Auto',
    'AUTO',
    'auto ',
    'automatic',
    'auto-approved',
    'allow_once',
    'allow_always',
    'reject_once',
    'reject_always',
    'granted',
    'expired',
  ],
  ...[
    'ask',
    'require_approval',
    'no_opinion',
    'maybe',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    'approved,auto',
    '{"decision":"approved"}',
  ],
  ...[
    'x'.repeat(1_000_000),
    '\ud800',
    'approved\ud800',
    'true\u0000',
    'ｔｒｕｅ',
    '✅',
    '👍',
    'oui',
    'sí',
    'да',
    'はい',
    'go',
    'run',
    'proceed',
    'continue',
  ],
];

/** Things that are not exactly an approval, however much they look like one. */
const shapesOf = (value: unknown): readonly [string, () => unknown][] => [
  ['as it is', () => value],
  ['as a promise', () => Promise.resolve(value)],
  ['as a decision', () => ({ decision: value })],
  ['in a list', () => [value]],
];

const odd: readonly (readonly [string, () => unknown])[] = [
  ...STRINGS.flatMap((text) =>
    shapesOf(text).map(
      ([how, make]) => [`text ${JSON.stringify(text).slice(0, 30)} ${how}`, make] as const,
    ),
  ),
  ...[
    undefined,
    null,
    false,
    0,
    1,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1n,
    {},
    [],
    [true],
    () => true,
  ].flatMap((value) =>
    shapesOf(value).map(([how, make]) => [`a ${typeof value} ${how}`, make] as const),
  ),
  ['true as a decision', () => ({ decision: true })],
  ['true in a list', () => [true]],
  ['a boxed true', () => new Boolean(true)],
  ['a boxed approval', () => new String('approved')],
  ['a boxed approval as a decision', () => ({ decision: new String('approved') })],
  ['a promise as a decision', () => ({ decision: Promise.resolve('approved') })],
  ['a promise of a list', () => Promise.resolve(['approved'])],
  ['an inherited decision', () => Object.create({ decision: 'approved' }) as unknown],
  [
    'a decision that cannot be listed',
    () => Object.defineProperty({}, 'decision', { value: 'approved', enumerable: false }),
  ],
  ['a decision under a symbol', () => ({ [Symbol('decision')]: 'approved' })],
  ['a misspelt decision', () => ({ decison: 'approved' })],
  ['approved: true', () => ({ approved: true })],
  ['ok: true', () => ({ ok: true, decision: 'approved' })],
  ['a misspelt args', () => ({ decision: 'approved', arg: { amount: 1 } })],
  ['args that are a text', () => ({ decision: 'approved', args: '{}' })],
  ['args that are null', () => ({ decision: 'approved', args: null })],
  ['args that are a list', () => ({ decision: 'approved', args: [] })],
  ['args that are no JSON', () => ({ decision: 'approved', args: { at: 1n } })],
  ['args that contain themselves', () => ({ decision: 'approved', args: cyclic() })],
  ['args that are not well-formed', () => ({ decision: 'approved', args: { text: '\ud800' } })],
  ['a decidedBy that is no text', () => ({ decision: 'approved', decidedBy: 7 })],
  ['a reason that is no text', () => ({ decision: 'approved', reason: {} })],
  ['a list with a decision', () => Object.assign([], { decision: 'approved' })],
  ['a map', () => new Map([['decision', 'approved']])],
  [
    'a getter that throws',
    () => Object.defineProperty({}, 'decision', { enumerable: true, get: () => raise() }),
  ],
  ['a proxy that throws', () => new Proxy({}, { get: () => raise(), ownKeys: () => raise() })],
  ['a thenable that throws', () => ({ then: () => raise() })],
  ['a rejection', () => Promise.reject(new Error('no'))],
  ...hostileThrowables.map(
    ([name, make]) => [`a throw of ${name}`, () => { throw make(); }] as const, // biome-ignore format: one line each
  ),
];

const raise = (): never => {
  throw new Error('no');
};

function cyclic(): object {
  const args: Record<string, unknown> = {};
  args.self = args;
  return args;
}

async function run(decide: () => unknown) {
  const executor = echoExecutor();
  const result = await composeToolCallers([consent(decide as never)])(
    makeCall({ toolArgs: { amount: 1 } }),
    executor,
  );
  return { result, ran: executor.calls.length };
}

describe('consent, given an odd answer,', () => {
  it('is asked about more than two hundred of them', () => {
    expect(odd.length).toBeGreaterThan(200);
  });

  it.each(odd)('does not run the tool for %s', async (_name, decide) => {
    const { result, ran } = await run(decide);

    expect(ran).toBe(0);
    expect(result).toMatchObject({ ok: false, executed: 'no' });
    expect(['consent_denied', 'approval_required']).toContain(result.status);
  });

  it.each<[string, () => unknown, string]>([
    ['true', () => true, 'approved'],
    ['approved', () => 'approved', 'approved'],
    ['auto', () => 'auto', 'auto'],
    ['a promise of true', () => Promise.resolve(true), 'approved'],
    ['an approved decision', () => ({ decision: 'approved' }), 'approved'],
    ['an auto decision', () => Promise.resolve({ decision: 'auto' }), 'auto'],
    [
      'a decision without a prototype',
      () => Object.assign(Object.create(null) as object, { decision: 'approved' }),
      'approved',
    ],
    [
      'a full decision',
      () => ({ decision: 'approved', decidedBy: 'ada', reason: 'fine', args: { amount: 1 } }),
      'approved',
    ],
    [
      'absent members',
      () => ({ decision: 'approved', decidedBy: undefined, reason: undefined, args: undefined }),
      'approved',
    ],
  ])('runs the tool for %s', async (_name, decide, decision) => {
    const { result, ran } = await run(decide);

    expect(ran).toBe(1);
    expect(result).toMatchObject({
      status: 'ok',
      audit: { consent: { decision } },
      approval: { decision },
    });
  });

  it('would run it for hundreds of them if an answer only had to be truthy', async () => {
    const naive =
      (decide: () => unknown): ToolCaller =>
      async (call, next) =>
        (await decide()) !== false && (await decide())
          ? next(call)
          : await composeToolCallers([consent(() => false)])(call, next);
    let ran = 0;
    for (const [, decide] of odd) {
      const executor = echoExecutor();
      await composeToolCallers([naive(decide)])(makeCall(), executor);
      ran += executor.calls.length;
    }

    expect(ran).toBeGreaterThan(200);
  });

  it.each([
    { decision: 'approved', decidedBy: 7 },
    { decision: 'approved', reason: {} },
    { decision: 'aproved' },
    ['approved'],
    'yes',
    1,
    null,
  ])('says that it did not understand %j', async (reply) => {
    expect((await run(() => reply)).result.audit?.consent).toMatchObject({
      decidedBy: 'decide',
      reason: 'the answer was not understood',
    });
  });

  it('reads a decision once: a getter cannot show one answer to the check and another to the record', async () => {
    let reads = 0;
    const { result } = await run(() => ({
      get decision() {
        reads += 1;
        return reads === 1 ? 'denied' : 'approved';
      },
    }));

    expect(result.status).toBe('consent_denied');
    expect(reads).toBe(1);
  });

  it('is not fooled by a polluted prototype', async () => {
    Object.defineProperty(Object.prototype, 'decision', { value: 'approved', configurable: true });
    const { ran } = await run(() => ({})).finally(() =>
      Reflect.deleteProperty(Object.prototype, 'decision'),
    );

    expect(ran).toBe(0);
  });
});
