/** Names in memory and on the wire, and which of them are converted. */

export type Spelling = 'camel' | 'snake';
type Spellings = Readonly<Record<Spelling, string>>;

/** How far down names are converted: to the leaves, in this object only, or not at all. */
export type Reach = 'all' | 'here' | 'none';

/**
 * Members that hold data of hosts and tools: their own names are converted, nothing inside them is,
 * because what a model, a tool, a schema or a host named keeps its name. A dotted entry counts only
 * there. Of every other `metadata` the direct member names are converted, because layers write
 * them, and nothing below.
 */
export const OPAQUE_MEMBERS: readonly string[] = Object.freeze([
  'arguments',
  'args',
  'toolArgs',
  'result',
  'content',
  'structuredContent',
  'schema',
  'inputSchema',
  'outputSchema',
  'shown',
  'state',
  'attributes',
  'capabilities',
  'argConstraints',
  'handoff.metadata',
]);

const opaque: ReadonlySet<string> = new Set(OPAQUE_MEMBERS);

/**
 * How far the conversion reaches below a member, which is named in camelCase like the one that
 * holds it.
 */
export function reachBelow(reach: Reach, holder: string, member: string): Reach {
  if (reach !== 'all' || opaque.has(member)) return 'none';
  if (member !== 'metadata') return 'all';
  return opaque.has(`${holder}.metadata`) ? 'none' : 'here';
}

const CAMEL = /^[a-z][a-zA-Z0-9]*$/;
const SNAKE = /^[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)+$/;

/**
 * Names that were met before. Bounded, because layers and hosts invent some; one that no longer
 * fits is worked out again.
 */
const met = new Map<string, Spellings>();
const MAX_MET = 1024;
const MAX_MET_LENGTH = 64;

/** Both spellings of a name; what is neither is the same in both. */
export function spellingsOf(name: string): Spellings {
  const before = met.get(name);
  if (before !== undefined) return before;
  const spellings = spell(name);
  if (met.size < MAX_MET && name.length <= MAX_MET_LENGTH) met.set(name, spellings);
  return spellings;
}

/**
 * Letter by letter, so that the way back is exact: `receiptURI` is `receipt_u_r_i`, and never a
 * guess.
 */
function spell(name: string): Spellings {
  if (CAMEL.test(name))
    return { camel: name, snake: name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) };
  if (SNAKE.test(name))
    return {
      camel: name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      snake: name,
    };
  return { camel: name, snake: name };
}
