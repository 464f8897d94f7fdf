import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineTool, governTools, type Tool } from '../../src/index.ts';
import {
  composePolicies,
  pathPolicy,
  type PermissionChecker,
  type PermissionRule,
  rulesPolicy,
} from '../../src/policy/index.ts';
import { permissions, type PermissionsOptions } from './permissions.ts';

const NAMES = ['read_file', 'write_file', 'drop_table', 'constructor'] as const;
const ran: string[] = [];
const tools: readonly Tool[] = NAMES.map((name) =>
  defineTool({
    name,
    description: '',
    inputSchema: { type: 'object' },
    execute: () => void ran.push(name),
  }),
);
const govern = (options: PermissionsOptions) =>
  governTools({ tools, layers: [permissions(options)] });
const shownBy = (options: PermissionsOptions) => govern(options).tools.map(({ name }) => name);
const rules = (...given: readonly PermissionRule[]) => rulesPolicy({ rules: given });
const dropping = rules({ decision: 'deny', tool: 'drop_*' });
const rest = ['read_file', 'write_file', 'constructor'];

describe('permissions hide', () => {
  it('shows everything unless told', () => {
    expect(shownBy({ checkers: [dropping] })).toEqual(NAMES);
  });

  it.each<[string, PermissionChecker, readonly string[]]>([
    ['a rule denies the tool', dropping, rest],
    [
      'a rule denies the call of it',
      rules({ decision: 'deny', tool: 'drop_*', kind: 'tool.*' }),
      rest,
    ],
    ['a rule denies every tool', rules({ decision: 'deny' }), []],
    [
      'one of several policies denies it',
      composePolicies(pathPolicy({ roots: [] }), () => 'allow', dropping),
      rest,
    ],
    [
      'no rule allows it and the rest is denied',
      rulesPolicy({ rules: [{ decision: 'allow', tool: 'read_*' }], fallback: 'deny' }),
      ['read_file'],
    ],
  ])('leaves out a tool where %s', (_title, checker, shown) => {
    expect(shownBy({ checkers: [checker], hide: true })).toEqual(shown);
  });

  it.each<[string, PermissionChecker]>([
    [
      'a rule looks at the arguments',
      rules({ decision: 'deny', tool: 'drop_*', when: 'args.all == true' }),
    ],
    [
      'a rule is about what it proposes',
      rules({ decision: 'deny', tool: 'drop_*', kind: 'filesystem.*' }),
    ],
    ['a person may allow it', rules({ decision: 'ask', tool: 'drop_*' })],
    [
      'a rule might allow it',
      rulesPolicy({ rules: [{ decision: 'allow', when: 'args.a == 1' }], fallback: 'deny' }),
    ],
    [
      'the rest is asked',
      rulesPolicy({ rules: [{ decision: 'allow', tool: 'read_*' }], fallback: 'ask' }),
    ],
    ['a function would deny it', () => 'deny'],
    [
      'a policy says no more than something true',
      { name: 'odd', evaluate: () => 'deny', alwaysDenies: () => 1 as unknown as boolean },
    ],
  ])('shows a tool where %s', (_title, checker) => {
    expect(shownBy({ checkers: [checker], hide: true })).toEqual(NAMES);
  });

  it('shows everything in shadow mode, which refuses nothing', () => {
    expect(shownBy({ checkers: [dropping], hide: true, shadow: true })).toEqual(NAMES);
  });

  it('answers a call of what it left out as if it were not there', async () => {
    const result = await govern({ checkers: [dropping], hide: true }).call({
      name: 'drop_table',
      arguments: {},
    });

    expect(result).toMatchObject({ status: 'tool_not_found', executed: 'no' });
  });
});

const rule = fc.record(
  {
    decision: fc.constantFrom('allow', 'deny', 'ask'),
    tool: fc.constantFrom('read_file', '*_file', 'drop_*', 'constructor', '*'),
    kind: fc.constantFrom('tool.call', 'tool.*', '*', 'filesystem.*'),
    when: fc.constantFrom('args.a == 1', 'true', 'args.missing == 1'),
  },
  { requiredKeys: ['decision'] },
);
const policies = fc.array(
  fc
    .record(
      {
        rules: fc.array(rule, { maxLength: 4 }),
        fallback: fc.constantFrom('allow', 'deny', 'ask'),
      },
      { requiredKeys: ['rules'] },
    )
    .map((options) => rulesPolicy(options)),
  { minLength: 1, maxLength: 3 },
);

/** Some names of arguments are refused before anybody is asked. */
const REFUSED = ['permission_denied', 'schema_violation'];

describe('a tool that is hidden', () => {
  it('is denied whatever its arguments, where it can be called', async () => {
    let hidden = 0;
    await fc.assert(
      fc.asyncProperty(
        policies,
        fc.boolean(),
        fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1, maxLength: 3 }),
        async (all, joined, many) => {
          const checkers = joined ? [composePolicies(...all)] : all;
          const shown = shownBy({ checkers, hide: true });
          const open = govern({ checkers, fallback: 'allow' });
          for (const name of NAMES.filter((each) => !shown.includes(each))) {
            hidden += 1;
            for (const args of [...many, { a: 1 }])
              expect(REFUSED).toContain((await open.call({ name, arguments: args })).status);
          }
        },
      ),
      { numRuns: 100 },
    );

    expect(hidden).toBeGreaterThan(50);
    expect(ran).toEqual([]);
  });

  it('would be allowed where a condition were overlooked, and the property sees it', () => {
    const naive = (given: readonly PermissionRule[], name: string) =>
      given.some(({ decision, tool }) => decision === 'deny' && tool === name);
    const conditional: PermissionRule = {
      decision: 'deny',
      tool: 'drop_table',
      when: 'args.all == true',
    };

    expect(naive([conditional], 'drop_table')).toBe(true);
    expect(rules(conditional).alwaysDenies?.('drop_table')).toBe(false);
  });
});
