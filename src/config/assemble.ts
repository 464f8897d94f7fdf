/** Puts the parts of a file together and checks that they fit each other. */

import {
  governTools,
  type GovernOptions,
  isAlliumError,
  type Logger,
  type Registry,
  type Turn,
} from '../index.ts';
import { describeThrown } from '../core/contract/errors.ts';
import { isObject } from '../core/json/json.ts';
import { describeFinding, type OrderFinding, orderFindings } from '../core/contract/order.ts';
import { type BuiltLayer, readEntries } from './build-layers.ts';
import type { References } from './load-references.ts';
import { isPlain } from './plain-data.ts';
import { invalidConfig, type Report } from './problem.ts';
import { checkData } from './schema/check-data.ts';
import { CONFIG_SCHEMA } from './schema/config-schema.ts';
import { LAYER_SCHEMAS, standsAlone } from './schema/layer-schemas.ts';
import type { ValueForms } from './value-forms.ts';

/** What a file says, after the schema has seen it. */
export interface Settings
  extends Pick<GovernOptions, 'limits' | 'onUnknownTool' | 'onInvalidArgs'> {
  readonly layers: readonly unknown[];
  readonly tools: readonly unknown[];
  readonly session?: { readonly id?: string } & Pick<Turn, 'runId' | 'model' | 'provider'>;
  readonly state?: { readonly dir: string };
  readonly secrets?: Readonly<Record<string, string>>;
  readonly proxy?: ProxySettings;
  readonly notify?: NotifySettings;
}

/** A server behind the proxy: a command, or an address. */
export interface ProxyServer {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly prefix?: string;
}

/** What a file says for `allium proxy`. */
export interface ProxySettings {
  readonly servers?: Readonly<Record<string, ProxyServer>>;
  readonly onBadSchema?: 'hide' | 'pass';
  readonly trustAnnotations?: boolean;
  readonly patienceMs?: number;
  readonly waitMs?: number;
  readonly returnMs?: number;
}

/** A program that tells people of a call that waits, and how long it may take. */
export interface NotifyCommand {
  readonly command: readonly string[];
  readonly timeoutMs?: number;
}

/** How people are told of a call that waits: on the controlling terminal, or by a program. */
export type NotifySettings = 'terminal' | NotifyCommand;

/** Everything a dispatcher is made of. */
export interface Parts {
  readonly built: readonly BuiltLayer[];
  /** The entries of `layers` as the file has them. */
  readonly entries: readonly unknown[];
  readonly tools: Registry;
  /** Closed with the file. */
  readonly servers: readonly { close(): Promise<void> }[];
  readonly session: Partial<Turn>;
  readonly stateDir: string;
  /** The folder of the file. */
  readonly workspace: string;
  readonly dispatch: Pick<GovernOptions, 'limits' | 'onUnknownTool' | 'onInvalidArgs' | 'secrets'>;
  readonly proxy: ProxySettings;
  readonly notify?: NotifySettings;
}

/** What came of the modules that a file names, and where mistakes go. */
interface Findings {
  readonly references: References;
  readonly tools: Registry;
  readonly report: Report;
  /** Whether anything was reported. */
  readonly isClean: () => boolean;
}

export function assemble(
  settings: Settings,
  { references, tools, report, isClean }: Findings,
): Omit<Parts, 'stateDir' | 'workspace' | 'servers'> {
  const built = readEntries(
    settings.layers,
    { check, use: references, forms: formsFrom(references) },
    ['layers'],
    report,
  ).map(closedOnce);
  for (const finding of orderFindings(built.map(({ layer }) => layer)).filter(
    ({ level }) => level === 'must',
  ))
    report(['layers', entryOf(built, finding)], describeFinding(finding));
  const { limits, onUnknownTool, onInvalidArgs, secrets, session = {} } = settings;
  const dispatch = {
    ...(limits === undefined ? {} : { limits }),
    ...(onUnknownTool === undefined ? {} : { onUnknownTool }),
    ...(onInvalidArgs === undefined ? {} : { onInvalidArgs }),
    ...(secrets === undefined ? {} : { secrets }),
  };
  if (isClean()) tryOut(built, tools, dispatch, report);
  const proxy = isObject(settings.proxy) ? settings.proxy : {};
  checkServers(isObject(proxy.servers) ? proxy.servers : {}, report);
  const { id, ...turn } = isObject(session) ? session : {};
  return {
    built,
    entries: settings.layers,
    tools,
    dispatch,
    proxy,
    ...(settings.notify === undefined ? {} : { notify: settings.notify }),
    session: Object.freeze({ ...(id === undefined ? {} : { sessionId: id }), ...turn }),
  };
}

function checkServers(servers: Readonly<Record<string, unknown>>, report: Report): void {
  for (const [name, server] of Object.entries(servers)) {
    const isOne = isObject(server) && (server.command === undefined) !== (server.url === undefined);
    if (!isOne) report(['proxy', 'servers', name], 'a server is either a "command" or a "url"');
  }
}

/**
 * The schema sees the options of bundled layers first: it tells all mistakes, and a factory only
 * the first.
 */
function check(name: string, value: unknown, path: Parameters<Report>[0], report: Report): boolean {
  const layer = LAYER_SCHEMAS[name];
  const { instead, bare } = layer ?? {};
  if (!isPlain(value)) {
    if (typeof value === 'string' && instead !== undefined)
      return checkData(`${name}Instead`, `"${name}"`, value, path, report);
    if (layer === undefined || (value !== undefined && value !== null) || standsAlone(layer))
      return true;
    if (bare === undefined) return checkData(`${name}Options`, `"${name}"`, {}, path, report);
    report(path, `"${name}" needs options; write "${name}: {}" to take every default`);
    return false;
  }
  const isForm = Object.keys(value).some((key) => key.startsWith('$'));
  return isForm || !hasPart(name) || checkData(`${name}Options`, `"${name}"`, value, path, report);
}

const hasPart = (name: string): boolean =>
  isObject(CONFIG_SCHEMA.$defs) && Object.hasOwn(CONFIG_SCHEMA.$defs, `${name}Options`);

const formsFrom = (references: References): ValueForms =>
  new Map([
    [
      '$module' as const,
      (reference: unknown) => {
        if (typeof reference === 'string' && reference !== '') return references(reference);
        throw invalidConfig(['"$module" must be a module, such as ./file.ts#name']);
      },
    ],
  ]);

/** Dispatchers share layers, and each of them closes what it has. */
function closedOnce({ layer, entry }: BuiltLayer): BuiltLayer {
  const { close } = layer;
  if (close === undefined) return { layer, entry };
  let closing: Promise<void> | undefined;
  return { entry, layer: Object.freeze({ ...layer, close: () => (closing ??= close()) }) };
}

/**
 * The entry of the layer that stands wrongly. A name may be there twice: the one that is on the
 * wrong side counts.
 */
function entryOf(built: readonly BuiltLayer[], { layer, other, expected }: OrderFinding): number {
  const others = built.flatMap((each, index) => (each.layer.name === other ? [index] : []));
  const found = built.find(
    (each, index) =>
      each.layer.name === layer &&
      others.some((place) => (expected === 'inside' ? index < place : index > place)),
  );
  return found?.entry ?? 0;
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * A dispatcher that nobody keeps: what it refuses is wrong with the file, and is told now and not
 * at the first call.
 */
function tryOut(
  built: readonly BuiltLayer[],
  tools: Registry,
  dispatch: Parts['dispatch'],
  report: Report,
): void {
  try {
    governTools({ ...dispatch, tools, layers: built.map(({ layer }) => layer), logger: SILENT });
  } catch (thrown) {
    const option = isAlliumError(thrown) ? thrown.details.option : undefined;
    report(
      [option === 'secrets' ? 'secrets' : 'tools'],
      isAlliumError(thrown) ? thrown.message : describeThrown(thrown),
    );
  }
}
