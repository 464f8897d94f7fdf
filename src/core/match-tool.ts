/** The one way to name tools in options: exact names, and `*` for any run of characters. */

const matchers = new Map<string, RegExp>();

/** Whether a tool name is meant by one of the patterns. An empty list means none. */
export function matchesTool(patterns: readonly string[], toolName: string): boolean {
  return patterns.some((pattern) => pattern === toolName || (pattern.includes('*') && globOf(pattern).test(toolName)));
}

/** Patterns come from whoever assembles the stack, so there are few of them. */
function globOf(pattern: string): RegExp {
  let glob = matchers.get(pattern);
  if (glob === undefined) {
    // Runs of `*` are one `*`: `.*.*` would backtrack.
    const parts = pattern.split(/\*+/).map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'));
    glob = new RegExp(`^${parts.join('.*')}$`, 's');
    matchers.set(pattern, glob);
  }
  return glob;
}
