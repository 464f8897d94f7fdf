/** What an error shows of itself in a scenario. */

import type { JsonObject } from '../../src/index.ts';

/** Its message, and its code where it has one. */
export function thrownAs(error: unknown): JsonObject {
  const message = error instanceof Error ? error.message : String(error);
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string'
      ? { code: error.code }
      : {};
  return { ...code, message };
}
