/**
 * What `exportTools` and `toToolMessage` give goes into the official packages as it is, without a
 * cast. Only compiled, never run: `npm ci --prefix bench/types && npx tsc -p bench/types`.
 */

import type Anthropic from '@anthropic-ai/sdk';
import type { FunctionDeclaration, GenerateContentParameters, Part } from '@google/genai';
import type {
  CallToolResult,
  ListToolsResult,
  Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js';
import type OpenAI from 'openai';
import {
  exportTools,
  type Provider,
  toToolMessage,
  type ToolResult,
  type ToolSpec,
} from '../../src/index.ts';

declare const tools: readonly ToolSpec[];
declare const result: ToolResult;
declare const shape: 'chat' | 'responses';
declare const provider: Provider;

/**
 * A whole request each: packages are stricter about a list inside of one than about a single tool.
 */
export const chat: OpenAI.ChatCompletionCreateParams = {
  model: 'm',
  tools: exportTools(tools, 'openai', { strict: true }),
  messages: [{ role: 'user', content: 'hello' }, toToolMessage(result, 'openai')],
};

export const responses: OpenAI.Responses.ResponseCreateParams = {
  model: 'm',
  tools: exportTools(tools, 'openai', { shape: 'responses' }),
  input: [toToolMessage(result, 'openai', { shape: 'responses' })],
};

export const anthropic: Anthropic.MessageCreateParams = {
  model: 'm',
  max_tokens: 1,
  tools: exportTools(tools, 'anthropic', { strict: true }),
  messages: [{ role: 'user', content: [toToolMessage(result, 'anthropic')] }],
};

export const cached: Anthropic.Tool[] = exportTools(tools, 'anthropic').map((tool) => ({
  ...tool,
  cache_control: { type: 'ephemeral' },
}));

export const gemini: GenerateContentParameters = {
  model: 'm',
  config: { tools: [{ functionDeclarations: exportTools(tools, 'gemini') }] },
  contents: [{ role: 'user', parts: [toToolMessage(result, 'gemini')] }],
};
export const declarations: FunctionDeclaration[] = exportTools(tools, 'gemini');
export const part: Part = toToolMessage(result, 'gemini');

export const listed: ListToolsResult = { tools: exportTools(tools, 'mcp') };
export const listedOne: McpTool | undefined = exportTools(tools, 'mcp')[0];
export const called: CallToolResult = toToolMessage(result, 'mcp', {
  tool: { outputSchema: { type: 'object' } },
});

/** Where only the run tells which form it is, nothing more is claimed. */
export const either = exportTools(tools, 'openai', { shape });
// @ts-expect-error -- It may be a tool for Responses.
export const wrongShape: OpenAI.ChatCompletionTool[] = either;
// @ts-expect-error -- One provider's tools are not another's.
export const wrongProvider: Anthropic.Tool[] = exportTools(tools, 'openai');
// @ts-expect-error -- It may be any provider's.
export const wrongMessage: Anthropic.ToolResultBlockParam = toToolMessage(result, provider);
// @ts-expect-error -- There is no such option.
export const wrongOption = exportTools(tools, 'openai', { strict: true, shpae: 'chat' });
