/**
 * Puts the servers of a configuration behind the proxy, and takes them away again: text in, text
 * out.
 */

import { matchesTool } from '../../core/contract/layer.ts';
import { applyEdits, type Document, type Edit, type Server } from './document.ts';
import { unwrapEdits, wrapEdits } from './edit-server.ts';
import { jsonDocument } from './json-document.ts';
import type { ProxyLine } from './proxy-line.ts';
import { readServer, type ServerShape, type WrappedServer } from './read-server.ts';
import { tomlDocument } from './toml-document.ts';

/** How the file is written: JSON with comments, or TOML. */
export type ConfigLanguage = 'json' | 'toml';

/** Which servers are meant. `*` in a pattern stands for anything. */
export interface ServerChoice {
  /** @default all */
  readonly only?: readonly string[];
  /** @default none */
  readonly except?: readonly string[];
}

export interface WrapOptions extends ServerChoice {
  /** What starts allium: a program and its first arguments. */
  readonly program: readonly string[];
  /**
   * The file of the stack, as a path that holds wherever the client starts the proxy. @default the
   * proxy's own stack
   */
  readonly config?: string;
}

/** What became of a server. */
export interface ServerOutcome {
  readonly name: string;
  /** The keys that lead to it. */
  readonly place: string;
  /**
   * `restored` is to the letter as it was; `taken_apart` means the same as it did, and may be
   * written otherwise.
   */
  readonly outcome:
    | 'wrapped'
    | 'already_wrapped'
    | 'left_alone'
    | 'not_chosen'
    | 'restored'
    | 'taken_apart'
    | 'not_wrapped';
  /** Why it stays as it is, or what to look out for. */
  readonly reason?: string;
}

export interface TextOutcome {
  readonly text: string;
  readonly servers: readonly ServerOutcome[];
}

/** Whether a client logs in to a server cannot be told from its configuration. */
const LOGIN_NOTE =
  'if the client logs in to it by itself, leave it out with --except: the proxy cannot';

const STACK_NOTE = 'it has another stack; to change that, --undo and wrap again';

interface Read {
  readonly server: Server;
  readonly shape: ServerShape;
}

/**
 * Throws `ERR_CLIENT_CONFIG` for a text that it cannot read. A server that it cannot wrap is left
 * alone, and the outcome says why.
 */
export function wrapText(
  text: string,
  language: ConfigLanguage,
  options: WrapOptions,
): TextOutcome {
  const document = documentOf(text, language);
  const edits: Edit[] = [];
  const servers = readAll(document).map(({ server, shape }): ServerOutcome => {
    if (!isChosen(server, options)) return outcomeOf(server, 'not_chosen');
    if (shape.kind === 'wrapped')
      return outcomeOf(
        server,
        'already_wrapped',
        hasOtherStack(shape, options) ? STACK_NOTE : undefined,
      );
    if (shape.kind === 'other') return outcomeOf(server, 'left_alone', shape.reason);
    edits.push(
      ...wrapEdits(shape, document, {
        program: options.program,
        name: server.name,
        config: options.config ?? null,
      }),
    );
    return outcomeOf(
      server,
      'wrapped',
      shape.kind === 'http' && shape.headers === null ? LOGIN_NOTE : undefined,
    );
  });
  return { text: applyEdits(text, edits), servers };
}

/**
 * The text as it was before it was wrapped, to the letter, where one of the older texts leads to
 * exactly this one; otherwise every wrapped entry is taken apart for itself. The first of the older
 * texts that fits is taken.
 */
export function unwrapText(
  text: string,
  language: ConfigLanguage,
  choice: ServerChoice,
  olderTexts: readonly string[],
): TextOutcome {
  const document = documentOf(text, language);
  const all = readAll(document);
  for (const older of olderTexts) {
    const restored = restoredFrom(older, text, language, all, choice);
    if (restored !== null) return restored;
  }
  const edits: Edit[] = [];
  const servers = all.map(({ server, shape }): ServerOutcome => {
    if (shape.kind !== 'wrapped') return outcomeOf(server, 'not_wrapped');
    if (!isChosen(server, choice)) return outcomeOf(server, 'not_chosen');
    const found = unwrapEdits(shape, server, document);
    if ('kind' in found) return outcomeOf(server, 'left_alone', found.reason);
    edits.push(...found);
    return outcomeOf(server, 'taken_apart');
  });
  return { text: applyEdits(text, edits), servers };
}

/**
 * Wraps the older text as the entries of this one say they were wrapped. Only where this leads to
 * the same text nothing else was changed.
 */
function restoredFrom(
  older: string,
  text: string,
  language: ConfigLanguage,
  all: readonly Read[],
  choice: ServerChoice,
): TextOutcome | null {
  const before = readableOrNull(older, language);
  if (before === null) return null;
  const lines = new Map(
    all.flatMap(({ server, shape }) => (isOwn(shape) ? [[idOf(server), shape.line] as const] : [])),
  );
  const wrapped = readAll(before).filter(
    ({ server, shape }) => shape.kind !== 'wrapped' && lines.has(idOf(server)),
  );
  const rewrap = (chosen: readonly Read[]): string =>
    applyEdits(
      older,
      chosen.flatMap(({ server, shape }) => editsAs(lines.get(idOf(server)), shape, before)),
    );
  const restored = wrapped.filter(({ server }) => isChosen(server, choice));
  if (restored.length === 0 || rewrap(wrapped) !== text) return null;
  const names = new Set(restored.map(({ server }) => idOf(server)));
  return {
    text: rewrap(wrapped.filter((each) => !restored.includes(each))),
    servers: all.map(({ server, shape }) => {
      if (names.has(idOf(server))) return outcomeOf(server, 'restored');
      if (shape.kind !== 'wrapped') return outcomeOf(server, 'not_wrapped');
      return isChosen(server, choice)
        ? outcomeOf(
            server,
            'already_wrapped',
            'it was behind the proxy before; --only takes it apart',
          )
        : outcomeOf(server, 'not_chosen');
    }),
  };
}

const hasOtherStack = (
  { line }: WrappedServer,
  { config = null }: { readonly config?: string | null },
): boolean => line !== 'foreign' && line.config !== config;

const isOwn = (shape: ServerShape): shape is WrappedServer & { readonly line: ProxyLine } =>
  shape.kind === 'wrapped' && shape.line !== 'foreign';

const editsAs = (
  line: ProxyLine | undefined,
  shape: ServerShape,
  document: Document,
): readonly Edit[] =>
  line === undefined || shape.kind === 'other' || shape.kind === 'wrapped'
    ? []
    : wrapEdits(shape, document, line);

/** The document of a text. Throws `ERR_CLIENT_CONFIG`. */
export const documentOf = (text: string, language: ConfigLanguage): Document =>
  language === 'toml' ? tomlDocument(text) : jsonDocument(text);

function readableOrNull(text: string, language: ConfigLanguage): Document | null {
  try {
    return documentOf(text, language);
  } catch {
    return null;
  }
}

const readAll = ({ servers, dialect }: Document): readonly Read[] =>
  servers.map((server) => ({ server, shape: readServer(server, dialect.headersKey) }));

const isChosen = ({ name }: Server, { only, except = [] }: ServerChoice): boolean =>
  (only === undefined || matchesTool(only, name)) && !matchesTool(except, name);

const idOf = ({ place, name }: Server): string => JSON.stringify([place, name]);

const outcomeOf = (
  { name, place }: Server,
  outcome: ServerOutcome['outcome'],
  reason?: string,
): ServerOutcome => ({
  name,
  place,
  outcome,
  ...(reason === undefined ? {} : { reason }),
});
