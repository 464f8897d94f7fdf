import { describe, expect, it } from 'vitest';
import { echoExecutor, makeCall } from '../../conformance/index.ts';
import { consent, type ConsentRule } from '../../middleware/index.ts';
import { composeToolCallers, defineTool, type ToolAnnotations } from '../index.ts';
import { specOf } from '../tools/own-definition.ts';
import { buildLayers } from './build-layers.ts';
import { fateOf, type ToolFate } from './tool-fates.ts';

const toolOf = (name: string, annotations: ToolAnnotations = {}) =>
  specOf(
    defineTool({
      name,
      description: name,
      inputSchema: { type: 'object' },
      annotations,
      execute: () => null,
    }),
  );

/** What becomes of a tool in a stack of these entries. */
function fateIn(
  entries: readonly unknown[],
  name = 'write_file',
  annotations: ToolAnnotations = {},
): ToolFate {
  const built = buildLayers(entries).map((layer, entry) => ({ layer, entry }));
  return fateOf(toolOf(name, annotations), built, entries, []);
}

const DECISIONS = ['allow', 'deny', 'ask', 'require_approval'] as const;
const PATTERNS = ['*', 'write_*', 'read_*'];
const RULES: readonly ConsentRule[] = DECISIONS.flatMap((decision) =>
  PATTERNS.map((tool) => ({ tool, decision })),
);
const OUTCOMES: Readonly<Record<string, string>> = {
  ok: 'allowed',
  consent_denied: 'refused',
  approval_required: 'asked',
};

describe('what is foreseen', () => {
  it('is what consent does, for every pair of rules and every default, with the rule that it names', async () => {
    const lists = [
      undefined,
      [],
      ...RULES.map((rule) => [rule]),
      ...RULES.flatMap((one) => RULES.map((two) => [one, two])),
    ];
    const options = lists.flatMap((rules) =>
      [undefined, ...DECISIONS].map((fallback) => ({
        ...(rules && { rules }),
        ...(fallback && { default: fallback }),
      })),
    );
    const differences: unknown[] = [];
    for (const given of options) {
      for (const annotations of [{}, { destructive: false }]) {
        const foreseen = fateIn([{ consent: given }], 'write_file', annotations);
        const result = await composeToolCallers([consent(given)])(
          makeCall({
            toolName: 'write_file',
            annotations: toolOf('write_file', annotations).annotations,
          }),
          echoExecutor(),
        );
        const line = result.audit?.layers.find(({ name }) => name === 'consent');
        if (
          foreseen.outcome !== OUTCOMES[result.status] ||
          foreseen.rule !== line?.rule ||
          foreseen.unless !== undefined
        )
          differences.push({
            given,
            annotations,
            foreseen,
            status: result.status,
            rule: line?.rule,
          });
      }
    }

    expect(differences).toEqual([]);
    expect(options.length).toBeGreaterThan(700);
  });

  it.each<[string, object, Partial<ToolFate>]>([
    [
      'a deny that looks',
      { rules: [{ tool: '*', when: () => true, decision: 'deny' }], default: 'allow' },
      { outcome: 'allowed' },
    ],
    [
      'an allow that looks',
      { rules: [{ tool: '*', when: () => true, decision: 'allow' }], default: 'deny' },
      { outcome: 'refused' },
    ],
  ])('names rules that look at the arguments: %s', (_name, options, expected) => {
    const { outcome, unless } = fateIn([{ consent: options }]);

    expect({ outcome }).toEqual(expected);
    expect(outcome === 'refused' ? undefined : unless).toEqual(
      outcome === 'refused' ? undefined : ['consent rule 1 (deny *)'],
    );
  });

  it('says that only code knows, and claims no more', () => {
    expect(fateIn([{ consent: { decide: () => true } }])).toEqual({
      outcome: 'allowed',
      unless: ['consent (what "decide" says)'],
    });
    expect(fateIn([{ permissions: { checkers: [{ pathPolicy: { roots: ['.'] } }] } }])).toEqual({
      outcome: 'allowed',
      unless: ['permissions (what the call is about to do)'],
    });
  });

  it('counts a refusal before a question, whichever layer it is of', () => {
    const asks = { consent: { default: 'ask' } };
    const scope = { scopedExecutor: { stage: 'reading', allowedTools: ['read_file'] } };

    expect(fateIn([asks, scope])).toEqual({
      outcome: 'refused',
      by: 'scopedExecutor',
      rule: 'scopedExecutor (stage reading)',
    });
    expect(fateIn([asks, scope], 'read_file')).toMatchObject({ outcome: 'asked', by: 'consent' });
    expect(
      fateIn([
        asks,
        {
          permissions: {
            checkers: [{ rulesPolicy: { rules: [{ tool: 'write_*', decision: 'deny' }] } }],
          },
        },
      ]),
    ).toMatchObject({
      outcome: 'refused',
      by: 'permissions',
    });
  });

  it('leaves a layer out that is for other tools', () => {
    const denies = { consent: { default: 'deny' } };

    expect(fateIn([{ ...denies, only: ['read_*'] }])).toEqual({ outcome: 'allowed' });
    expect(fateIn([{ ...denies, except: ['write_*'] }])).toEqual({ outcome: 'allowed' });
    expect(fateIn([{ ...denies, except: ['read_*'] }]).outcome).toBe('refused');
  });

  it('is that nobody decides where no layer does', () => {
    expect(fateIn([{ rateLimit: { maxCalls: 1 } }])).toEqual({ outcome: 'allowed' });
  });
});
