import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LAYER_CONTRACT, type LayerSubject } from '../conformance/index.ts';
import { ok, type ToolLayer } from '../src/index.ts';
import { dryRun, summary, timeout } from './index.ts';

/** Wrong on purpose: what a JavaScript caller could pass. */
const bad = (make: (options: never) => unknown, ...options: readonly unknown[]) => options.map((option) => () => make(option as never));

const subjects: Readonly<Record<string, LayerSubject>> = {
  'dry-run': {
    create: () => dryRun(),
    badOptions: bad(dryRun, null, 'all', { onyl: [] }, { only: 'read' }, { except: [1] }, { message: '' }),
  },
  summary: { create: () => summary((call) => `called ${call.toolName}`), badOptions: bad(summary, undefined, null, 'text', {}) },
  timeout: {
    create: () => timeout({ maxMs: 1000 }),
    badOptions: bad(
      timeout,
      undefined,
      {},
      { maxMs: 0 },
      { maxMs: '5' },
      { maxMs: 5, perTol: {} },
      { maxMs: 5, perTool: { a: -1 } },
      { maxMs: 5, graceMs: -1 },
    ),
  },
};

const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe('the layer contract', () => {
  it('is run over every folder of middleware', () => {
    expect(Object.keys(subjects).sort()).toEqual(folders.map(({ name }) => name).sort());
  });

  for (const [folder, subject] of Object.entries(subjects)) {
    describe(folder, () => {
      for (const promise of LAYER_CONTRACT) it(promise.name, () => promise.check(subject));
    });
  }
});

/** A layer for each promise that breaks it: a contract nothing can break proves nothing. */
const offenders: Readonly<Record<string, LayerSubject['create']>> = {
  'is a well-formed layer': () => ({ name: 'x' }) as unknown as ToolLayer,
  'keeps concurrent calls apart': () => {
    let last: unknown = null;
    return {
      name: 'shares',
      caller: async (call, next) => {
        last = call.toolArgs;
        await next(call);
        return ok(call, last);
      },
    };
  },
  'lets progress through': () => ({ name: 'swallows', caller: (call, next) => next({ ...call, report: () => {} }) }),
  'leaves no timer and no listener behind': () => ({
    name: 'listens',
    caller: (call, next) => {
      call.signal.addEventListener('abort', () => {});
      return next(call);
    },
  }),
  'changes a shown tool the same way twice and never in place': () => ({
    name: 'appends',
    caller: (call, next) => next(call),
    schemaTransform: (tool) => ({ ...tool, description: `${tool.description}!` }),
  }),
  'refuses bad options': () => ({ name: 'takes anything', caller: (call, next) => next(call) }),
};

describe('the layer contract catches a layer that', () => {
  for (const [name, create] of Object.entries(offenders)) {
    it(`breaks "${name}"`, async () => {
      const promise = LAYER_CONTRACT.find((entry) => entry.name === name);

      await expect(promise?.check({ create, badOptions: [() => create()] })).rejects.toThrow();
    });
  }
});
