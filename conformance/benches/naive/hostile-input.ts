/**
 * Arguments copied the way one finds it everywhere. What is naive about it: a member `__proto__`
 * becomes a prototype, what JSON cannot say becomes `null`, a tool is looked up among everything an
 * object inherits, and nobody measures what comes in.
 */

import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
  type Tool,
  type ToolRequest,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const { limits: _, ...rest } = options;
  const governed = governTools({ ...rest, limits: { maxArgsDepth: 10_000 } });
  const tools: Record<string, Tool> = {};
  for (const tool of options.tools) tools[tool.name] = tool;
  return {
    ...governed,
    async call(request, callOptions) {
      if (!tools[request.name]) throw new Error(`unknown tool ${request.name}`);
      return governed.call({ ...request, arguments: copyOf(request.arguments) }, callOptions);
    },
  };
}

function copyOf(given: ToolRequest['arguments']): JsonObject {
  const parsed = (typeof given === 'string' ? JSON.parse(given) : given) as JsonObject; // What else should it be?
  const copy: Record<string, unknown> = {};
  for (const name in parsed) copy[name] = parsed[name];
  return JSON.parse(JSON.stringify(copy)) as JsonObject; // It was JSON a moment ago.
}

export default createSubject({ name: 'naive hostile input', govern });

export const fails: readonly string[] = [
  'hostile-input.a-long-name-is-cut',
  'hostile-input.a-name-cannot-forge-a-line',
  'hostile-input.a-prototype-in-the-arguments-is-refused',
  'hostile-input.names-of-the-language-are-unknown-tools',
  'hostile-input.numbers-and-texts-that-cannot-be-hashed',
  'hostile-input.the-default-depth-is-64',
  'hostile-input.too-deep-is-refused',
  'hostile-input.too-large-is-refused',
  'hostile-input.too-many-values-are-refused',
];
