/** What kind of failure a thrown error was. */

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** What kind of failure it was, as far as an error code tells. */
export function categoryOf(thrown: unknown): string {
  try {
    const code: unknown =
      typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : undefined;
    return typeof code === 'string' && NETWORK_CODES.has(code) ? 'network' : 'exception';
  } catch {
    return 'exception';
  }
}
