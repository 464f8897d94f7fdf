import { describe, expect, it } from 'vitest';
import { createRandom } from '../../conformance/benches/fuzz/random.ts';
import { unhandledDuring } from '../../conformance/benches/fuzz/watch-process.ts';
import { permissions } from '../../middleware/index.ts';
import { defineLayer } from '../index.ts';
import type { PermissionRequest } from '../permissions/permission.ts';
import {
  drawFaults,
  FAULTS,
  type Injected,
  type PermissionsLike,
  play,
  type Played,
  ROUTES,
  type Route,
} from './fault-injection.fixture.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

/** `ALLIUM_FAULTS=10000` for the long form. */
const CALLS = howMany(200, 20_000);
const SEED = 1;
/** What nobody has an opinion on is allowed, so that a failure that is taken for none shows. */
const ours: PermissionsLike = (checkers) => permissions({ checkers, fallback: 'allow' });
const routes = Object.keys(ROUTES) as Route[];

/** What must not be, of one call. */
function wrongWith({ ran, result, thrown, endings, passes }: Played): string | null {
  if (ran > 0) return 'the tool ran';
  if (thrown === 'untyped') return 'something untyped was thrown';
  if (result !== null && (result.ok || result.executed !== 'no'))
    return 'the result does not say that nothing ran';
  return endings === passes ? null : `${endings} endings of ${passes} passes were told`;
}

const described = (route: Route, injected: readonly Injected[]) =>
  `${route}: ${injected.map(({ party, fault, from }) => `${party} ${fault.name} from ${from}`).join(', ')}`;

/** Plays so many calls, each with a fault on its way, and answers with what went wrong. */
async function inject(calls: number, layer: PermissionsLike): Promise<readonly string[]> {
  const random = createRandom(SEED);
  const wrong: string[] = [];
  for (let index = 0; index < calls; index += 1) {
    const { route, injected } = drawFaults(random);
    const problem = wrongWith(await play(route, injected, layer));
    if (problem !== null) wrong.push(`${described(route, injected)}: ${problem}`);
  }
  return wrong;
}

describe('a call with a fault on the way to what it needs', () => {
  it.each(routes)('runs once where nothing is at fault: by %s', async (route) => {
    expect(await play(route, [], ours)).toMatchObject({
      ran: 1,
      result: { status: 'ok' },
      thrown: null,
    });
  });

  it('never runs, whoever fails and however, alone', async () => {
    const wrong: string[] = [];
    for (const route of routes)
      for (const [party, times] of Object.entries(ROUTES[route]) as [Injected['party'], number][])
        for (const fault of FAULTS.filter(({ means = [] }) => !means.includes(party)))
          for (let from = 1; from <= times; from += 1) {
            const problem = wrongWith(await play(route, [{ party, fault, from }], ours));
            if (problem !== null)
              wrong.push(`${described(route, [{ party, fault, from }])}: ${problem}`);
          }

    expect(wrong).toEqual([]);
  });

  it(`never runs in ${CALLS} calls with random faults, and leaves no rejection behind`, {
    timeout: 600_000,
  }, async () => {
    let wrong: readonly string[] = [];
    const unhandled = await unhandledDuring(async () => {
      wrong = await inject(CALLS, ours);
    });

    expect(wrong).toEqual([]);
    expect(unhandled).toEqual([]);
  });

  it('runs where a check takes a failure for no opinion, which is seen here', async () => {
    const naive: PermissionsLike = (checkers) =>
      defineLayer({
        name: 'naive',
        async caller(call, next) {
          for (const checker of checkers) {
            const request = {
              kind: 'tool.call',
              toolName: call.toolName,
              callId: call.callId,
              call,
            } as PermissionRequest; // As the core makes it.
            const said: unknown = await (typeof checker === 'function'
              ? Promise.resolve(request).then(checker)
              : null
            )?.catch(() => 'no_opinion');
            if (said === 'deny') return next({ ...call, toolName: 'nothing' });
          }
          return next(call);
        },
      });

    expect(
      (await inject(300, naive)).filter((problem) => problem.endsWith('the tool ran')).length,
    ).toBeGreaterThan(50);
  });
});
