/** What the stack costs before any layer does something, beside the least that a careful host does. */

import { defineTool, governTools, type JsonObject, passThrough, type ToolRequest } from 'allium';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  DESCRIPTION,
  type Governed,
  numbered,
  rulesFor,
  SCHEMA,
  shortAnswerTo,
  TOOL,
  TURN,
} from './stack-scenario.ts';

/** The tool's own arguments have no reason: no layer here takes it off. */
const OPEN_SCHEMA = { ...SCHEMA, additionalProperties: true };
const rules = rulesFor(shortAnswerTo);
const rest = { folder: '', flush: async () => {}, close: async () => {} };

/** An awaited function behind one check of its arguments, which it gets as a frozen copy. */
export function bareStack(): Governed {
  const fits = new Ajv2020({ strict: false }).compile(OPEN_SCHEMA);
  const { signal } = new AbortController();
  return {
    ...rest,
    name: 'bare',
    async call(args) {
      const copy = frozenCopy(args) as JsonObject; // A copy of JSON has its shape.
      if (!fits(copy)) throw new TypeError('the arguments do not fit');
      return rules.answer(copy, { signal });
    },
  };
}

function frozenCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) copy[name] = frozenCopy(member);
  return Object.freeze(copy);
}

/** `governTools` with so many layers that hand on what they get. */
export function idleStack(layers: number): Governed {
  const tool = defineTool({
    name: TOOL,
    description: DESCRIPTION,
    inputSchema: OPEN_SCHEMA,
    execute: (args: JsonObject, context) => rules.answer(args, context),
  });
  const governed = governTools({
    tools: [tool],
    layers: Array.from({ length: layers }, () => passThrough),
  });
  return {
    ...rest,
    name: `${layers} layers`,
    call: numbered((id, args) => {
      const request: ToolRequest = { name: TOOL, arguments: args as JsonObject, id };
      return governed.call(request, { turn: TURN });
    }),
    close: () => governed.close(),
  };
}
