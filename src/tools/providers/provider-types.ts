/**
 * What each provider's API takes, as far as `exportTools` and `toToolMessage` write it. The
 * official packages' own types take these as they are; they are stated here so that programs need
 * not install those packages. Lists are not `readonly`, because the packages ask for lists that are
 * not.
 */

import type { JsonObject } from '../../core/json/json-value.ts';
import type { JsonSchema } from '../../core/contract/call.ts';
import type { Provider } from './alias.ts';

/** The schema of arguments, which are always an object. */
type ArgumentsSchema = JsonSchema & { readonly type: 'object' };

type OpenAiFunction = {
  name: string;
  description: string;
  parameters: JsonSchema;
  strict?: boolean;
};

type OpenAiTool = {
  chat: { type: 'function'; function: OpenAiFunction };
  responses: {
    type: 'function';
    name: string;
    description: string;
    parameters: JsonSchema;
    strict: boolean;
  };
};

type AnthropicTool = {
  name: string;
  description: string;
  input_schema: ArgumentsSchema;
  strict?: boolean;
};

type GeminiFunction = { name: string; description: string; parametersJsonSchema: JsonSchema };

type McpTool = {
  name: string;
  title?: string;
  description: string;
  inputSchema: ArgumentsSchema;
  outputSchema?: ArgumentsSchema;
  annotations: {
    title?: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
};

type OpenAiMessage = {
  chat: { role: 'tool'; tool_call_id: string; content: string };
  responses: { type: 'function_call_output'; call_id: string; output: string };
};

/** The images that Anthropic takes. */
export type AnthropicImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

/** A block of an Anthropic message. */
export type AnthropicBlock =
  | { type: 'text'; text: string }
  | { type: 'image'; source: { type: 'base64'; media_type: AnthropicImageType; data: string } };

type AnthropicMessage = {
  type: 'tool_result';
  tool_use_id: string;
  content: AnthropicBlock[];
  is_error?: boolean;
};

type GeminiMessage = {
  functionResponse: { id: string; name: string; response: { output: string } | { error: string } };
};

/** What a block may say besides. */
type McpNotes = {
  annotations?: { audience?: ('user' | 'assistant')[]; priority?: number; lastModified?: string };
};

type McpBlock = McpNotes &
  (
    | { type: 'text'; text: string }
    | { type: 'image' | 'audio'; data: string; mimeType: string }
    | {
        type: 'resource';
        resource: { uri: string; mimeType?: string } & ({ text: string } | { blob: string });
      }
    | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string }
  );

type McpMessage = { content: McpBlock[]; structuredContent?: JsonObject; isError?: boolean };

/** OpenAI's two APIs. */
export type OpenAiShape = 'chat' | 'responses';

/** A tool in the form of a provider. */
export type ProviderTool<P extends Provider, S extends OpenAiShape = 'chat'> = {
  openai: OpenAiTool[S];
  anthropic: AnthropicTool;
  gemini: GeminiFunction;
  mcp: McpTool;
}[P];

/** A result in the form of a provider. */
export type ProviderMessage<P extends Provider, S extends OpenAiShape = 'chat'> = {
  openai: OpenAiMessage[S];
  anthropic: AnthropicMessage;
  gemini: GeminiMessage;
  mcp: McpMessage;
}[P];
