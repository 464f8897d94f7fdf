/**
 * What a definition says about the calls of its tool, kept in types alone: `governTools` checks
 * names and arguments that are written in code, and knows what the tool answers with.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { ToolResult } from '../core/contract/result.ts';
import type { FromSchema } from './infer-args.ts';
import type { Tool, ToolOutput, ToolRequest } from './tool.ts';

declare const DEFINED: unique symbol;

/** A tool as `defineTool` makes it. At run time it is a `Tool` and nothing more. */
export interface TypedTool<Name extends string = string, Args = unknown, Value = unknown>
  extends Tool {
  readonly name: Name;
  readonly [DEFINED]?: { readonly args: Args; readonly value: Value };
}

/** What a model may send: hidden arguments are not its own. */
export type SentArgs<S, Hidden extends string> = WithoutHidden<
  S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : FromSchema<S>,
  Hidden
>;

/** Of names that are not written out, any member may be hidden. */
type WithoutHidden<Args, Hidden extends string> = [Hidden] extends [never]
  ? Args
  : string extends Hidden
    ? Partial<Args>
    : Omit<Args, Hidden>;

/** Whether the tools, or the name asked for, are known at run time only. */
type IsOpen<T extends Tool, Name extends string> = [T] extends [never]
  ? true
  : string extends T['name'] | Name
    ? true
    : false;

type DefinedAs<T extends Tool, Name extends string> = T extends { readonly name: Name } & TypedTool
  ? NonNullable<T[typeof DEFINED]>
  : never;

/** What the compiler shows for a name that no tool has. */
interface UnknownTool<Names> {
  readonly 'is none of these tools': Names;
}

/** A request for one of these tools. Layers may ask for members that the tool does not have. */
export type RequestFor<T extends Tool, Name extends string> =
  IsOpen<T, Name> extends true
    ? ToolRequest
    : {
        readonly name: Name extends T['name'] ? Name : UnknownTool<T['name']>;
        readonly arguments:
          | string
          | (DefinedAs<T, Name>['args'] & { readonly [more: string]: unknown });
        readonly id?: string;
      };

/**
 * What a call comes to. `result` is what the tool answers with, and `null` where it did not run; a
 * layer that answers in its place, such as `dryRun`, may put something else there.
 */
export type ResultFor<T extends Tool, Name extends string> =
  IsOpen<T, Name> extends true
    ? ToolResult
    : ToolResult & { readonly result: AsResult<DefinedAs<T, Name>['value']> | null };

/** A `toolOutput` may have any value. */
type AsResult<Value> = Value extends ToolOutput | undefined ? ToolResult['result'] : Value;
