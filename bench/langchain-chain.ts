/** LangChain's side of the comparison: how hooks become a chain, and how a ToolNode runs it. */

import { AIMessage, type ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import type { JsonObject } from 'allium';
import { createMiddleware } from 'langchain';
import { z } from 'zod';
import { loadInternal } from './load-internal.ts';
import type { Line, Said } from './stack-parts.ts';
import { answerTo, DESCRIPTION, type Governed, TOOL } from './stack-scenario.ts';

/**
 * What the layers of one call share; LangChain has no place for it, so it hangs on the runtime of
 * the request.
 */
export interface Shared extends Omit<{ -readonly [K in keyof Said]: Said[K] }, 'layers'> {
  readonly layers: Line[];
  executed: JsonObject;
}

/** A request as the chain hands it down. */
export interface Request {
  readonly toolCall: { readonly name: string; readonly args: JsonObject; readonly id?: string };
  readonly runtime: object;
  readonly signal?: AbortSignal;
}

export type Handler = (request: Request) => Promise<ToolMessage>;
export type Hook = (request: Request, handler: Handler) => Promise<ToolMessage>;
export type Chain = (request: unknown, handler: Handler) => Promise<ToolMessage>;

const shares = new WeakMap<object, Shared>();

/** What belongs to the call whose runtime this is. */
export function sharedOf({ runtime }: Request): Shared {
  const known = shares.get(runtime);
  if (known !== undefined) return known;
  const made = {
    layers: [],
    summary: '',
    reason: '',
    consent: { decision: '', decidedBy: '', decidedAt: '' },
    executed: {},
  };
  shares.set(runtime, made);
  return made;
}

/** A ToolMessage keeps the structured value of the tools here as its artifact. */
export const valueOf = (message: ToolMessage): JsonObject => message.artifact as JsonObject;

/** Built by the function that `createAgent` calls; the first hook is the outermost. */
export async function chainOfHooks(hooks: Readonly<Record<string, Hook>>): Promise<Chain> {
  // The hooks name of the request only what they use, which LangChain's generic types cannot see.
  const middleware = Object.entries(hooks).map(([name, hook]) =>
    createMiddleware({ name, wrapToolCall: hook as never }),
  );
  const wrapToolCall = (await loadInternal('langchain', './agents/utils.js', 'wrapToolCall')) as (
    list: unknown,
  ) => Chain; // Proven by running it.
  return wrapToolCall(middleware);
}

/** The schema of the tool in the form that LangChain checks fastest. */
const FIELDS = z.looseObject({ customer: z.string(), limit: z.int() });

type ToolNodeClass = new (
  tools: readonly unknown[],
  options: object,
) => { invoke(state: object): Promise<unknown> };

/** A ToolNode that finds the tool, checks its arguments and wraps the chain around it. */
export async function toolNodeWith(chain: Chain): Promise<Governed['call']> {
  const search = tool(
    (args) => {
      const artifact = answerTo(args as JsonObject); // What the model wrote, checked.
      return [JSON.stringify(artifact), artifact];
    },
    {
      name: TOOL,
      description: DESCRIPTION,
      schema: FIELDS,
      responseFormat: 'content_and_artifact',
    },
  );
  const ToolNode = (await loadInternal(
    'langchain',
    './agents/nodes/ToolNode.js',
    'ToolNode',
  )) as ToolNodeClass; // Proven by running it.
  const node = new ToolNode([search], { wrapToolCall: chain });
  return (args) =>
    node.invoke({
      messages: [
        new AIMessage({
          content: '',
          tool_calls: [{ name: TOOL, args, id: 'call-1', type: 'tool_call' }],
        }),
      ],
    });
}
