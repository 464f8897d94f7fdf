/**
 * A dispatcher that is kind to models, and a reason that is taken off without a question. What is
 * naive about them: what cannot be read becomes an empty object, digits become numbers, and the
 * field of a layer is taken for nobody else's.
 */

import {
  annotate,
  defineLayer,
  type GovernedTools,
  type GovernOptions,
  governTools,
  injectParameter,
  type JsonObject,
  type JsonValue,
  type ToolLayer,
  type ToolRequest,
  withCall,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function requiredReason(): ToolLayer {
  return defineLayer({
    name: 'requiredReason',
    schemaTransform: (tool) =>
      injectParameter(tool, 'reason', { type: 'string', description: 'Why?' }),
    async caller(call, next) {
      const { reason, ...toolArgs } = call.toolArgs;
      return annotate(await next(withCall(call, { toolArgs })), {
        reason: typeof reason === 'string' ? reason : '',
      });
    },
  });
}

function govern(options: GovernOptions): GovernedTools {
  const governed = governTools(options);
  return {
    ...governed,
    call: (request, callOptions) =>
      governed.call({ ...request, arguments: readable(request.arguments) }, callOptions),
  };
}

function readable(given: ToolRequest['arguments']): JsonObject {
  const parsed: unknown = typeof given === 'string' ? parse(given) : given;
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return {};
  // JSON all the way down.
  return Object.fromEntries(
    Object.entries(parsed as JsonObject).map(([name, value]) => [name, numbered(value)]),
  );
}

const numbered = (value: JsonValue): JsonValue =>
  typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

export default createSubject({ name: 'naive schemas', factories: { requiredReason }, govern });

export const fails: readonly string[] = [
  'schemas.a-field-the-tool-owns-stays',
  'schemas.the-own-schema-has-the-last-word',
  'schemas.an-injected-field-just-works',
  'schemas.malformed-json-is-never-an-empty-object',
  'schemas.nothing-is-coerced',
  'schemas.the-shown-schema-is-the-one-that-admits',
];
