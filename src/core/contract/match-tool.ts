/** The one way to name tools in options: exact names, and `*` for any run of characters. */

/** Whether a tool name is meant by one of the patterns. An empty list means none. */
export function matchesTool(patterns: readonly string[], toolName: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === toolName ||
      pattern === '*' ||
      (pattern.includes('*') && matchesGlob(pattern, toolName)),
  );
}

/**
 * Finds the parts between the stars one after another, each as early as possible, and the last one
 * at the end. No regular expression: `*a*a*a*` as one backtracks for hours on a name that a model
 * or a foreign server made up.
 */
function matchesGlob(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop() ?? '';
  if (!name.startsWith(head)) return false;
  let from = head.length;
  for (const part of rest) {
    const at = name.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return name.length - tail.length >= from && name.endsWith(tail);
}
