/** The bridge to schema libraries: anything that speaks Standard Schema and can write itself down as JSON Schema. */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import { AlliumError, describeThrown, oneLine } from '../core/errors.ts';
import type { ParsedArgs } from './tool.ts';

export const isStandardSchema = (schema: unknown): schema is StandardSchemaV1 =>
  schema !== null &&
  (typeof schema === 'object' || typeof schema === 'function') &&
  '~standard' in schema;

/** The JSON Schema of what the library's check takes: the arguments that are sent in, or the value that a tool answers with. */
export function jsonSchemaOf(schema: StandardSchemaV1, toolName: string): Record<string, unknown> {
  const { jsonSchema, vendor } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  if (jsonSchema === undefined) {
    throw new AlliumError(
      'ERR_INVALID_TOOL',
      `tool "${toolName}": ${oneLine(vendor)} schemas of this version cannot be written as JSON Schema`,
      { toolName },
    );
  }
  try {
    return jsonSchema.input({ target: 'draft-2020-12' });
  } catch (thrown) {
    const message = `tool "${toolName}": its ${oneLine(vendor)} schema cannot be written as JSON Schema: ${describeThrown(thrown)}`;
    throw new AlliumError('ERR_INVALID_TOOL', message, { toolName }, { cause: thrown });
  }
}

/** The library's own check as a function. Its messages are kept, its values are not. */
export function parserOf(schema: StandardSchemaV1): (value: unknown) => Promise<ParsedArgs> {
  return async (value) => {
    const checked = await schema['~standard'].validate(value);
    // The schema of arguments answers with an object: anything else was refused when its JSON Schema was read. Of an output only `problems` are used.
    if (checked.issues === undefined)
      return { value: checked.value as Readonly<Record<string, unknown>> };
    return {
      problems: checked.issues.map(({ message, path }) => ({
        path: pointer(path),
        message: oneLine(message),
      })),
    };
  };
}

const pointer = (path: StandardSchemaV1.Issue['path']): string =>
  (path ?? []).map((part) => `/${String(typeof part === 'object' ? part.key : part)}`).join('');
