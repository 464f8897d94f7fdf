/**
 * A client's configuration as text with positions: edits change what they mean to change and
 * nothing else.
 */

/** A value and where it stands, from its first character to the one behind its last. */
export type Value =
  | { readonly kind: 'text'; readonly start: number; readonly end: number; readonly text: string }
  | {
      readonly kind: 'list';
      readonly start: number;
      readonly end: number;
      readonly items: readonly Value[];
    }
  | {
      readonly kind: 'map';
      readonly start: number;
      readonly end: number;
      readonly members: readonly Member[];
    }
  | { readonly kind: 'other'; readonly start: number; readonly end: number };

/** A key with its value. A list of them, not an object: a server may be called `__proto__`. */
export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly value: Value;
}

/** One MCP server of a configuration. */
export interface Server {
  readonly name: string;
  /** Where it was found, for a file that has servers in several places: a path of keys. */
  readonly place: string;
  readonly members: readonly Member[];
  /** Why it cannot be edited although the file can be read. */
  readonly problem?: string;
}

/** How a language writes what edits put in. */
export interface Dialect {
  /** What the headers of an HTTP server are called. */
  readonly headersKey: string;
  quote(text: string): string;
  key(name: string): string;
  member(key: string, value: string): string;
  /** What goes between a member and one that is put behind it, so that both look alike. */
  between(text: string, member: Member): string;
}

export interface Document {
  readonly text: string;
  readonly servers: readonly Server[];
  readonly dialect: Dialect;
}

/** A piece of text in the place of another. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The text with all edits made. They must not overlap; those in one place are made in the order
 * they are given.
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let after = '';
  let from = 0;
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    after += text.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return after + text.slice(from);
}

export const memberOf = (members: readonly Member[], key: string): Member | undefined =>
  members.find((each) => each.key === key);

/** The first key that is there twice: two readers could take two different values for it. */
export function repeatedKey(members: readonly Member[]): string | undefined {
  const seen = new Set<string>();
  return members.find(({ key }) => seen.size === seen.add(key).size)?.key;
}

/** The white space right before a place. */
export const spaceBefore = (text: string, at: number): string =>
  /[ \t\r\n]*$/.exec(text.slice(Math.max(0, at - 1000), at))?.[0] ?? '';
