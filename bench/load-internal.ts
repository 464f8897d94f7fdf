/** Functions that packages have but do not export. */

/**
 * Found by the place of their file beside the package's entry. Callers prove what they got by
 * running it.
 */
export async function loadInternal(
  packageName: string,
  file: string,
  name: string,
): Promise<unknown> {
  const module: unknown = await import(new URL(file, import.meta.resolve(packageName)).href);
  const found: unknown =
    typeof module === 'object' && module !== null ? Reflect.get(module, name) : undefined;
  if (typeof found === 'function') return found;
  throw new Error(
    `${packageName} has moved ${name}; the benchmark is written for the version it was last run with`,
  );
}
