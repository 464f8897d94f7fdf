/**
 * The same empty stacks built by other people's composers. None of them writes audit entries, so
 * they do less.
 *
 * koa-compose and hono hand a context down; it is a small object made per call. hono ignores what a
 * middleware returns, so its layers await; its context is the minimum that `compose` touches, not a
 * request. LangChain is its `wrapToolCall` chain alone, as `createAgent` builds it, without
 * ToolNode and the graph, which cost far more than the chain. The chain accepts only a ToolMessage,
 * so there the tool answers with one, made per call the way ToolNode makes it.
 */

import { ToolMessage } from '@langchain/core/messages';
import type { ToolCall } from 'allium';
import composeKoa from 'koa-compose';
import { createMiddleware, type WrapToolCallHook } from 'langchain';
import { type Contestant, makeTool, markOf, perLayer } from './contestants.ts';
import { distinct } from './harness.ts';
import { loadInternal } from './load-internal.ts';

/** koa-compose with layers that hand the promise on. */
export const koa: Contestant = {
  name: 'koa-compose',
  audited: false,
  build: (depth, trace) => {
    const layers = perLayer(depth, (layer) =>
      distinct<composeKoa.Middleware>(
        `(context, next) => { ${markOf(layer, trace)}return next(); }`,
        { trace },
      ),
    );
    const source = '(call) => composed({ call }, bottom)';
    return distinct(source, {
      composed: composeKoa(layers),
      bottom: distinct('(context) => tool(context.call)', { tool: makeTool() }),
    });
  },
};

type HonoCompose = (
  layers: readonly [[unknown]][],
) => (context: unknown, next: unknown) => Promise<unknown>;

/** hono's composer with layers that await `next`. */
export async function loadHono(): Promise<Contestant> {
  const compose = (await loadInternal('hono', './compose.js', 'compose')) as HonoCompose; // Proven by running it before it is measured.
  return {
    name: 'hono compose',
    audited: false,
    build: (depth, trace) => {
      const layers = perLayer<[[unknown]]>(depth, (layer) => [
        [distinct(`async (context, next) => { ${markOf(layer, trace)}await next(); }`, { trace })],
      ]);
      const source = `async (call) => {
        const context = await composed({ req: { routeIndex: 0 }, finalized: false, res: null, call }, bottom);
        return context.res;
      }`;
      return distinct(source, {
        composed: compose(layers),
        bottom: distinct('(context) => tool(context.call)', { tool: makeTool() }),
      });
    },
  };
}

type LangChainHandler = (request: unknown) => Promise<unknown>;
type LangChainChain = (request: unknown, handler: LangChainHandler) => Promise<unknown>;
type WrapToolCall = (middleware: readonly unknown[]) => LangChainChain | undefined;

/**
 * LangChain's chain, built by the function that `createAgent` calls, with middlewares that hand the
 * promise on.
 */
export async function loadLangChain(): Promise<Contestant> {
  const wrapToolCall = (await loadInternal(
    'langchain',
    './agents/utils.js',
    'wrapToolCall',
  )) as WrapToolCall; // Proven likewise.
  return {
    name: 'LangChain wrapToolCall',
    audited: false,
    build: (depth, trace) => {
      const middleware = perLayer(depth, (layer) => {
        const source = `(request, handler) => { ${markOf(layer, trace)}return handler(request); }`;
        return createMiddleware({
          name: `layer ${layer + 1}`,
          wrapToolCall: distinct<WrapToolCallHook>(source, { trace }),
        });
      });
      return asking(wrapToolCall(middleware));
    },
  };
}

/** A request per call, as ToolNode makes it. Without middleware there is no chain. */
function asking(chain: LangChainChain | undefined): (call: ToolCall) => unknown {
  const bottom: LangChainHandler = distinct(
    `async ({ toolCall }) => new ToolMessage({ name: toolCall.name, content: JSON.stringify(toolCall.args), tool_call_id: toolCall.id })`,
    { ToolMessage },
  );
  const request = `{ toolCall: { name: call.toolName, args: call.toolArgs, id: call.callId, type: 'tool_call' }, tool: undefined, state, runtime }`;
  const scope = { chain, bottom, state: { messages: [] }, runtime: {} };
  return distinct(
    chain === undefined ? `(call) => bottom(${request})` : `(call) => chain(${request}, bottom)`,
    scope,
  );
}
