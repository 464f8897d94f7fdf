/** What every test of the layer needs. */

import { echoExecutor, makeCall, type PartialCall } from '../../conformance/index.ts';
import {
  composeToolCallers,
  type ContentBlock,
  type Next,
  ok,
  type ToolLayer,
  type ToolResult,
} from '../../src/index.ts';
import { SECRETS, seeded } from '../../src/redaction/corpus.fixture.ts';

/** Made up anew, so that nothing here looks like a key to a scanner. */
export const SECRET = SECRETS['github']?.(seeded(1)).secret ?? '';
export const EMAIL = 'ada.lovelace@analytical.example';
export const CARD = '4111 1111 1111 1111';

export const run = (
  layer: ToolLayer,
  call: PartialCall = {},
  executor: Next = echoExecutor(),
): Promise<ToolResult> => composeToolCallers([layer])(makeCall(call), executor);

export const answering =
  (value: unknown, content?: readonly ContentBlock[]): Next =>
  async (call) =>
    ok(call, value, content === undefined ? {} : { content });

/** Everything that can be read of a result. */
export const shown = (result: ToolResult): string => JSON.stringify(result);
