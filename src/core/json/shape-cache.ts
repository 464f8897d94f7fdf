/**
 * Objects come in few shapes: what is worked out for the names of one is kept for the next with the
 * same names in the same order.
 */

interface Shape<T> {
  readonly names: readonly string[];
  readonly made: T;
}

const MAX_FIRST_NAMES = 64;
const MAX_SHAPES_EACH = 8;
const MAX_NAMES = 32;
const MAX_NAME_LENGTH = 64;

/**
 * `make`, once for each list of names. Bounded in every direction: names come from outside.
 * `undefined` is not kept.
 */
export function shapeCache<T>(
  make: (names: readonly string[]) => T | undefined,
): (names: readonly string[]) => T | undefined {
  // By first name, so that most look-ups meet one candidate.
  const shapes = new Map<string, Shape<T>[]>();
  return (names) => {
    const candidates = names.length === 0 ? undefined : shapes.get(names[0] ?? '');
    if (candidates !== undefined) {
      for (const shape of candidates) if (sameNames(shape.names, names)) return shape.made;
    }
    const made = make(names);
    if (made !== undefined) remember(shapes, { names, made });
    return made;
  };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  // The last name differs more often than the first ones.
  for (let index = a.length - 1; index >= 0; index -= 1) if (a[index] !== b[index]) return false;
  return true;
}

function remember<T>(shapes: Map<string, Shape<T>[]>, shape: Shape<T>): void {
  const [first] = shape.names;
  if (
    first === undefined ||
    shape.names.length > MAX_NAMES ||
    shape.names.some(({ length }) => length > MAX_NAME_LENGTH)
  )
    return;
  const candidates = shapes.get(first);
  if (candidates !== undefined && candidates.length < MAX_SHAPES_EACH) {
    candidates.push(shape);
    return;
  }
  if (shapes.size >= MAX_FIRST_NAMES) shapes.clear();
  shapes.set(first, [shape]);
}
