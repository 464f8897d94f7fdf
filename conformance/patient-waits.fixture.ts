/**
 * Runs before every test file: a busy machine is no failure, so what is waited for may take longer
 * than the second vitest gives it.
 */

import { vi } from 'vitest';

/** Less than a test may take, so that a wait that fails says what for. */
const PATIENCE_MS = 30_000;

const { waitFor } = vi;

vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options });
