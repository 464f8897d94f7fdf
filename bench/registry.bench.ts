/**
 * Whether a call costs more among many tools. The same ten hot tools are called in both registries,
 * spread evenly over the large one: what is measured is finding and dispatching, not compiling ten
 * thousand schemas for the first time.
 */

import { strict as assert } from 'node:assert';
import { createRegistry, defineTool, type GovernedTools, governTools } from 'allium';
import { type Case, distinct, loopOver, measure } from './harness.ts';
import type { BenchOptions } from './options.ts';
import { ratioGoal, renderRows, type Report, rowsOf } from './report.ts';

const SMALL = 10;
const LARGE = 10_000;
const HOT = 10;
const GROUP = 'one call';
const MAX_RATIO = 1.2;

interface Request {
  readonly name: string;
  readonly arguments: { readonly city: string; readonly day: number };
  readonly id: string;
}

export async function registryBench(options: BenchOptions): Promise<Report> {
  const sizes = [SMALL, LARGE].map((size) => ({
    size,
    governed: governedWith(size),
    requests: requestsFor(size),
  }));
  for (const { governed, requests } of sizes)
    for (const request of requests) await prove(governed, request);
  const cases = sizes.map(
    ({ size, governed, requests }): Case => ({
      name: caseName(size),
      group: GROUP,
      run: loopOver(
        distinct<(request: Request) => unknown>('(request) => governed.call(request)', {
          governed,
        }),
        requests,
      ),
    }),
  );
  const measured = await measure(cases.filter(options.matches), options);
  for (const { governed } of sizes) await governed.close();
  const rows = rowsOf(measured, caseName(SMALL));
  const goal = ratioGoal(measured, GROUP, caseName(LARGE), caseName(SMALL), MAX_RATIO);
  return { bench: 'registry', text: renderRows(rows, caseName(SMALL)), data: rows, goals: [goal] };
}

const caseName = (size: number): string => `${size} tools`;
const toolName = (index: number): string => `forecast_${index}`;

const governedWith = (size: number): GovernedTools =>
  governTools({
    tools: createRegistry(Array.from({ length: size }, (_, index) => forecast(toolName(index)))),
    layers: [],
  });

const forecast = (name: string) =>
  defineTool({
    name,
    description: 'Tells the weather of a day.',
    inputSchema: {
      type: 'object',
      // A schema of its own for each tool, in text too: equal ones would share one compiled check.
      properties: {
        city: { type: 'string', description: `Where ${name} looks.` },
        day: { type: 'integer' },
      },
      required: ['city', 'day'],
      additionalProperties: false,
    },
    execute: async ({ city, day }) => ({ tool: name, city, day }),
  });

const requestsFor = (size: number): Request[] =>
  Array.from({ length: HOT }, (_, i) => ({
    name: toolName(i * (size / HOT)),
    arguments: { city: 'Ghent', day: i },
    id: `call-${i}`,
  }));

/** Throws unless the very tool that was asked for answered. */
async function prove(governed: GovernedTools, request: Request): Promise<void> {
  const { status, result } = await governed.call(request);
  assert.deepEqual(
    { status, result },
    { status: 'ok', result: { tool: request.name, ...request.arguments } },
  );
}
