/** The options of `redaction`. */

import { expected, option, optionsSchema, type OptionTable } from '../../src/layer.ts';
import {
  DETECTORS,
  type Incoming,
  isPattern,
  parsePath,
  type RedactionDetector,
  type RedactionPattern,
  type RedactionStrategy,
  type Redactor,
  STRATEGIES,
} from '../../src/redaction/index.ts';

export interface RedactionOptions {
  /** What to look for. @default ['secrets'], or none beside a redactor given alone */
  readonly detectors?: readonly RedactionDetector[];
  /** What becomes of findings, by what found them. @default 'mask' for all */
  readonly strategies?: Readonly<
    Partial<Record<RedactionDetector | 'paths' | 'patterns', RedactionStrategy>>
  >;
  /** Members that are always hidden: `headers.token`, `items[*].secret`, `**.key`. @default none */
  readonly paths?: readonly string[];
  /** Expressions in RE2 syntax; what they match is hidden. @default none */
  readonly patterns?: readonly RedactionPattern[];
  /** Asked after everything else, once for the arguments and once for the result. @default none */
  readonly redactor?: Redactor;
  /** `report` records findings in arguments, and hands them on. @default 'mask' */
  readonly in?: Incoming;
  /** Key of the `hash` strategy. @default a random one per layer */
  readonly key?: string;
}

const { either, listOf, mapOf, oneOf, required, string } = expected;

const STRATEGY = oneOf(...STRATEGIES);
const NAMES: readonly string[] = [...DETECTORS, 'paths', 'patterns'];

const BY_DETECTOR = {
  text: `an object of ${NAMES.join(', ')}, each value ${STRATEGY.text}`,
  test: (value: unknown) =>
    mapOf(STRATEGY).test(value) &&
    Object.keys(value as object).every((name) => NAMES.includes(name)),
  schema: optionsSchema(
    Object.fromEntries(
      NAMES.map((name) => [name, option(STRATEGY, 'what becomes of these findings')]),
    ),
  ),
};

const PATH = {
  ...string,
  text: 'a path such as "headers.token"',
  test: (value: unknown) => typeof value === 'string' && parsePath(value) !== null,
};

const NAMED_PATTERN = {
  ...expected.object,
  schema: optionsSchema({
    name: option(required(string), 'how findings are called'),
    pattern: option(required(string), 'the expression'),
  }),
};
const PATTERN = {
  ...either('an expression, or { name, pattern }', string, NAMED_PATTERN),
  test: isPattern,
};

const KEY = {
  text: 'a string of at least 16 characters',
  test: (value: unknown) => typeof value === 'string' && value.length >= 16,
  schema: { type: 'string', minLength: 16, title: 'a string of at least 16 characters' },
};

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<RedactionOptions> = {
  detectors: option(listOf(oneOf(...DETECTORS)), 'what to look for: `secrets`, `secrets-deep`, `email`, `phone`, `card`', "`['secrets']`; none beside a redactor given alone"),
  strategies: option(BY_DETECTOR, '`mask`, `hash`, `tokenise` or `block`, by detector or for `paths` and `patterns`', '`mask` for all'),
  paths: option(listOf(PATH), 'members of arguments and results that are always hidden: `a.b`, `items[*].x`, `*.x`, `**.x`, `["a.b"]`; case does not matter', 'none'),
  patterns: option(listOf(PATTERN), 'expressions in RE2 syntax (text or `RegExp`), alone or as `{ name, pattern }`; what they match is hidden', 'none'),
  redactor: option(expected.function, 'asked after everything else; may answer later', 'none'),
  in: option(oneOf('mask', 'report'), "what becomes of findings in arguments: `'mask'`, or `'report'`, which records them and gives the tool what the model sent", "`'mask'`"),
  key: option(KEY, 'key of the `hash` strategy, at least 16 characters, where digests must be the same in another process', 'a random one per layer'),
};
