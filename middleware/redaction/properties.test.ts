import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  fail,
  type JsonValue,
  ok,
  type ToolProgress,
  type ToolResult,
  withResult,
} from '../../src/index.ts';
import { ENCODINGS, pick, PERSONAL, SECRETS, seeded } from '../../src/redaction/corpus.fixture.ts';
import { redaction, type RedactionOptions } from './redaction.ts';
import { howMany } from '../../conformance/how-many.fixture.ts';

const ALL: RedactionOptions = {
  detectors: ['secrets', 'email', 'phone', 'card'],
  paths: ['**.pin'],
};

const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>; // The library's type for the same thing.

/** A made-up secret of any family in any disguise that is found. */
const disguised = fc
  .tuple(fc.integer(), fc.constantFrom(...Object.keys({ ...SECRETS, ...PERSONAL })))
  .map(([seed, family]) => {
    const random = seeded(seed);
    const make = { ...SECRETS, ...PERSONAL }[family];
    const { secret, text } = make?.(random) ?? { secret: '', text: '' };
    const encode = pick(
      random,
      Object.entries(ENCODINGS).filter(([name]) => name !== 'reversed'),
    )[1];
    return { canary: encode(secret), text: encode(text) };
  });

const call = (value: JsonValue, options: RedactionOptions = ALL): Promise<ToolResult> =>
  composeToolCallers([redaction(options)])(makeCall(), async (inner) => ok(inner, value));

describe('redaction, for any value,', () => {
  it('changes nothing the second time', async () => {
    await fc.assert(
      fc.asyncProperty(
        json,
        disguised,
        fc.constantFrom('mask', 'hash', 'tokenise'),
        async (value, { text }, strategy) => {
          const layer = redaction({
            ...ALL,
            strategies: {
              secrets: strategy,
              email: strategy,
              phone: strategy,
              card: strategy,
              paths: strategy,
            },
          });
          const through = (given: JsonValue) =>
            composeToolCallers([layer])(makeCall(), async (inner) => ok(inner, given));
          const once = await through([value, `so: ${text} .`, { pin: text }]);
          const twice = await through(once.result);

          expect(twice.result).toEqual(once.result);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('lets no canary out on any surface, whatever its disguise', async () => {
    await fc.assert(
      fc.asyncProperty(json, disguised, fc.boolean(), async (value, { canary, text }, fails) => {
        const told: ToolProgress[] = [];
        const said = `so: ${text} .`;
        const result = await composeToolCallers([redaction(ALL)])(
          makeCall({ toolArgs: { given: said }, report: (progress) => void told.push(progress) }),
          async (inner) => {
            inner.report({ message: said });
            if (fails) return fail(inner, 'executor_error', new Error(said), said);
            const content = [{ type: 'text', text: said } as const];
            return withResult(ok(inner, [value, { said }], { content }), {
              metadata: { said },
              renderedResult: said,
            });
          },
        );
        const {
          result: out,
          content,
          renderedResult,
          observation,
          error,
          metadata,
          audit,
        } = result;

        for (const surface of [
          out,
          content,
          renderedResult,
          observation,
          error,
          metadata,
          audit,
          result.arguments,
          told,
        ]) {
          expect(textsIn(surface).some((found) => found.includes(canary))).toBe(false);
        }
      }),
      { numRuns: howMany(100, 300) },
    );
  });

  it('hands the very same value on where there is nothing to hide', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[a-z ]{0,30}$/)), async (words) => {
        const value = Object.freeze({ words });
        let inner: unknown = null;
        const result = await composeToolCallers([redaction(ALL)])(makeCall(), async (sent) => {
          const answer = ok(sent, value);
          inner = answer.result;
          return answer;
        });

        expect(result.result).toBe(inner);
      }),
    );
  });

  it('never fails, whatever characters it is made of', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 400 }), async (text) => {
        expect((await call({ text, [text]: text })).ok).toBe(true);
      }),
    );
  });
});

/** Every string of a value, member names included. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsIn(item)]);
}
