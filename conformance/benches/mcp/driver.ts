/** One interface for clients of different SDKs and eras. */

import type { JsonObject } from '../../../src/core/json/json-value.ts';
import type { ProgramCommand } from './processes.ts';

/** What a client connects to: a program that it starts itself, or an address. */
export type Target = ProgramCommand | { readonly url: string; readonly token?: string };

/** A question that came to the client, in the words of the protocol. */
export interface Question {
  readonly message: string;
  readonly requestedSchema: JsonObject;
}

export interface Answer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, string | number | boolean>>;
}

export interface ConnectOptions {
  /** Answers questions. Without it the client says that it can answer none. */
  readonly onElicit?: (question: Question) => Answer | Promise<Answer>;
  /** More of what the client says it can do. */
  readonly capabilities?: JsonObject;
  /**
   * Whether the other side speaks the revision of 2026-07-28: a client that insists on it cannot
   * speak to any other. @default false
   */
  readonly isModern?: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: number) => void;
}

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly hasOutputSchema: boolean;
}

/** How a call ended for the client: with a result, or with an error of the protocol or the SDK. */
export type Outcome =
  | {
      readonly kind: 'result';
      readonly isError: boolean;
      /** All text blocks. */
      readonly text: string;
      /** Everything that arrived, as JSON. */
      readonly whole: string;
    }
  | { readonly kind: 'error'; readonly message: string };

export interface Connection {
  /** What was negotiated. */
  readonly era: 'legacy' | 'modern';
  listTools(): Promise<readonly ListedTool[]>;
  /** Never rejects. */
  call(name: string, args: JsonObject, options?: CallOptions): Promise<Outcome>;
  /**
   * Calls back when the other side says that its tools have changed. Only where the protocol pushes
   * that by itself.
   */
  onToolsChanged(listener: () => void): void;
  close(): Promise<void>;
}

export interface Driver {
  readonly name: string;
  /** Whether it can speak the revision of 2026-07-28. */
  readonly isModern: boolean;
  connect(target: Target, options?: ConnectOptions): Promise<Connection>;
}

/** Reads a result as any client has it. */
export function outcomeOf(result: object): Outcome {
  const { content, isError } = result as { readonly content?: unknown; readonly isError?: unknown };
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block) => {
    const { text } = block as { readonly text?: unknown }; // A block is an object in every SDK.
    return typeof text === 'string' ? [text] : [];
  });
  return {
    kind: 'result',
    isError: isError === true,
    text: texts.join('\n'),
    whole: JSON.stringify(result),
  };
}

/** A tool as any client has it. */
export const listedTool = (tool: {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  readonly outputSchema?: unknown;
}): ListedTool => ({
  name: tool.name,
  description: tool.description ?? '',
  inputSchema: tool.inputSchema as JsonObject, // It came as JSON.
  hasOutputSchema: tool.outputSchema !== undefined,
});

/** A question as any client has it. In this bench nobody is asked to open an address. */
export function questionOf(params: object): Question {
  // The SDK has checked it.
  const { message, requestedSchema } = params as {
    readonly message: string;
    readonly requestedSchema?: JsonObject;
  };
  return { message, requestedSchema: requestedSchema ?? {} };
}

/** What the client threw instead. */
export function errorOutcome(thrown: unknown): Outcome {
  return {
    kind: 'error',
    message: thrown instanceof Error ? thrown.message : 'something that is no error',
  };
}

/** What a client says it can do. */
export const capabilitiesOf = ({ onElicit, capabilities }: ConnectOptions): JsonObject => ({
  ...(onElicit === undefined ? {} : { elicitation: { form: {} } }),
  ...capabilities,
});

/** `undefined` for an option is not the same as its absence. */
export const requestOptions = ({ signal, timeoutMs, onProgress }: CallOptions) => ({
  ...(signal === undefined ? {} : { signal }),
  ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  ...(onProgress === undefined
    ? {}
    : { onprogress: ({ progress }: { readonly progress: number }) => onProgress(progress) }),
});
