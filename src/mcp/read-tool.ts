/**
 * A tool as an MCP server lists it, made a tool of ours. All of it is the server's word: claims
 * that policy may use, never proof.
 */

import type { ToolAnnotations } from '../core/contract/annotations.ts';
import { isObject } from '../core/json/json.ts';
import type { JsonObject } from '../core/json/json-value.ts';
import { defineTool, type ToolDefinition } from '../tools/define-tool.ts';
import type { SchemaLiteral } from '../tools/infer-args.ts';
import { checkSchema } from '../tools/schema/check-schema.ts';
import type { Tool } from '../tools/tool.ts';

/** What becomes of a tool whose schemas are refused: left out, or taken without them. */
export type OnBadSchema = 'hide' | 'pass';

/** What a tool is made with beside what its server sent. */
export interface ToolReading
  extends Pick<
    ToolDefinition<SchemaLiteral>,
    'annotations' | 'metadata' | 'proposedRequests' | 'execute'
  > {
  readonly onBadSchema: OnBadSchema;
  /**
   * `ignore` reads a schema that is no object as if none had been sent; `refuse` refuses it like
   * any other schema that cannot be used.
   */
  readonly schemaOfNoObject: 'ignore' | 'refuse';
  /** Told with `onBadSchema: 'pass'` why the schemas of the tool were dropped. */
  readonly onUnchecked: (thrown: unknown) => void;
}

const ANY_OBJECT: SchemaLiteral = { type: 'object' };

/** Throws for a tool that cannot be used: what `checkSchema` and `defineTool` throw. */
export function readTool(name: string, sent: JsonObject, reading: ToolReading): Tool {
  const { onBadSchema, schemaOfNoObject, onUnchecked, ...own } = reading;
  const { description } = sent;
  const described = {
    ...own,
    name,
    description: typeof description === 'string' ? description : '',
    executor: 'mcp_server',
  } as const;
  try {
    const schemas =
      schemaOfNoObject === 'ignore' ? schemaObjects(sent) : checkedSchemas(name, sent);
    return defineTool({ ...described, ...schemas });
  } catch (thrown) {
    if (onBadSchema === 'hide') throw thrown;
    const tool = withoutSchemas(described);
    // Something else is wrong with the tool, too.
    if (tool === null) throw thrown;
    onUnchecked(thrown);
    return tool;
  }
}

type Schemas = Pick<ToolDefinition<SchemaLiteral>, 'inputSchema' | 'outputSchema'>;

const schemaObjects = ({ inputSchema, outputSchema }: JsonObject): Schemas => ({
  inputSchema: isObject(inputSchema) ? inputSchema : ANY_OBJECT,
  ...(isObject(outputSchema) ? { outputSchema } : {}),
});

function checkedSchemas(name: string, { inputSchema, outputSchema }: JsonObject): Schemas {
  const where = `tool "${name}"`;
  return {
    inputSchema: checkSchema(inputSchema ?? ANY_OBJECT, where, { objectRoot: true }),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: checkSchema(outputSchema, `output of ${where}`) }),
  };
}

function withoutSchemas(
  described: Omit<ToolDefinition<SchemaLiteral>, 'inputSchema'>,
): Tool | null {
  try {
    return defineTool({ ...described, inputSchema: ANY_OBJECT });
  } catch {
    return null;
  }
}

const HINTS = {
  readOnlyHint: 'readOnly',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'openWorld',
} as const;

/** The four hints, where they are flags. Nothing a server says can lift an approval. */
export function readHints(given: unknown): ToolAnnotations {
  const sent = isObject(given) ? given : {};
  return Object.fromEntries(
    Object.entries(HINTS).flatMap(([hint, ours]) =>
      typeof sent[hint] === 'boolean' ? [[ours, sent[hint]]] : [],
    ),
  );
}
