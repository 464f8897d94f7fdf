/** Subjects in this process: the built-in layers, or somebody's own under the same names. */

import { definitionPin, type DefinitionPinOptions, permissions } from '../../middleware/index.ts';
import { buildLayers } from '../../src/config/build-layers.ts';
import { type LayerFactory, LAYER_FACTORIES } from '../../src/config/layer-factories.ts';
import { isObject } from '../../src/core/json/json.ts';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
  type JsonValue,
  type Logger,
  toWire,
} from '../../src/index.ts';
import { memoryApprovals, memoryGrants } from '../../src/policy/index.ts';
import { type TestClock, testClock } from '../test-kit.ts';
import { doStep, endingWithin, type Session } from './do-step.ts';
import { memoryOutputs } from './memory-outputs.ts';
import type { Setup } from './scenario.ts';
import { type ScenarioTools, scenarioTools } from './scenario-tools.ts';
import type { ScriptLog } from './scripts.ts';
import type { Subject, SubjectSession, Traces } from './subject.ts';
import { type ScenarioForms, scenarioForms } from './value-forms.ts';

/** What makes a subject somebody's own. */
export interface SubjectOptions {
  /** What it is called in reports. */
  readonly name: string;
  /** Layers of its own, by the name that scenarios use. @default the bundled ones */
  readonly factories?: Readonly<Record<string, LayerFactory>>;
  /** Puts layers and tools together, once more after a restart. @default `governTools` */
  readonly govern?: (options: GovernOptions) => GovernedTools;
}

/**
 * A subject from layers and a dispatcher. Scenarios that name a layer it does not replace get the
 * bundled one.
 */
export function createSubject({
  name,
  factories = {},
  govern = governTools,
}: SubjectOptions): Subject {
  const bundled: Readonly<Record<string, LayerFactory>> = {
    permissions,
    ...Object.fromEntries(LAYER_FACTORIES),
    definitionPin: quietPin,
  };
  const known = new Map(Object.entries({ ...bundled, ...factories }));
  return { name, open: async (setup) => openSession(setup, known, govern) };
}

/**
 * Tools that change are what scenarios are about: where no scenario listens, whoever runs the suite
 * is not to be warned of them.
 */
const quietPin = (options?: DefinitionPinOptions) =>
  definitionPin(
    options === undefined || isObject(options) ? { onQuarantine: () => {}, ...options } : options,
  );

/** The built-in layers and `governTools`. */
export const builtinSubject: Subject = createSubject({ name: 'allium' });

async function openSession(
  setup: Setup,
  factories: ReadonlyMap<string, LayerFactory>,
  govern: (options: GovernOptions) => GovernedTools,
): Promise<SubjectSession> {
  const clock = testClock();
  const log: ScriptLog = { unused: [], unexpected: [] };
  const forms = scenarioForms(clock, log);
  try {
    return sessionOf(setup, { clock, log, forms, factories, govern });
  } catch (error) {
    await forms.readFiles(); // Nobody else removes them.
    throw error;
  }
}

interface Workbench {
  readonly clock: TestClock;
  readonly log: ScriptLog;
  readonly forms: ScenarioForms;
  readonly factories: ReadonlyMap<string, LayerFactory>;
  readonly govern: (options: GovernOptions) => GovernedTools;
}

function sessionOf(setup: Setup, bench: Workbench): SubjectSession {
  const { clock, log, forms } = bench;
  const { build, approvals, ...seen } = stacksOf(setup, bench);
  const session: Session = {
    ...{ governed: build({}), clock, approvals, restart: build },
    ...{ begun: new Map(), questions: new Map(), calls: 0 },
  };
  return {
    do: (step) => doStep(step, session),
    finish: () => finish(session, { ...seen, forms, log }),
  };
}

/** Stacks over the same stores, and everything that is seen of all of them. */
function stacksOf(setup: Setup, { clock, log, forms, factories, govern }: Workbench) {
  const { logger, logs } = recordingLogger();
  const { outputFiles, outputs } = memoryOutputs();
  const [approvals, grants] = [memoryApprovals(), memoryGrants({ clock })];
  const [events, received, stacks]: [JsonObject[], JsonObject[], GovernedTools[]] = [[], [], []];
  const scripted: ScenarioTools[] = [scenarioTools(setup.tools, clock, log, received)];
  let ids = 0;
  const createId = (): string => `id-${(ids += 1)}`;
  const build = (changes: Setup): GovernedTools => {
    if (changes.tools !== undefined)
      scripted.push(scenarioTools(changes.tools, clock, log, received));
    const { layers = [], host = {} } = { ...setup, ...changes };
    const built = buildLayers(layers, { factories, forms: forms.forms });
    const prompts = (host.prompts ?? []).map((prompt, index) =>
      promptFrom(prompt, `prompt ${index + 1}`, forms),
    );
    const { grants: hasGrants = false, ...rest } = host;
    // The schema of scenarios has looked at the shape of `host`.
    const options = {
      ...{ ...rest, prompts, approvals, ...(hasGrants ? { grants } : {}) },
      ...{ tools: scripted.at(-1)?.tools, layers: built, clock, createId, logger, outputFiles },
    } as unknown as GovernOptions;
    const governed = govern(options);
    governed.on('*', (event) => void events.push(toWire(event)));
    stacks.push(governed);
    return governed;
  };
  return { build, approvals, stacks, scripted, received, logs, events, outputs };
}

function promptFrom(prompt: JsonValue, where: string, { forms }: ScenarioForms): unknown {
  const [[form, argument] = ['', null]] = Object.entries(prompt as JsonObject); // The schema of scenarios lets through one member.
  return forms.get(form as `$${string}`)?.(argument, where); // One that is no form is nothing, which `governTools` refuses.
}

interface Seen {
  readonly stacks: readonly GovernedTools[];
  readonly scripted: readonly ScenarioTools[];
  readonly received: readonly JsonObject[];
  readonly forms: ScenarioForms;
  readonly log: ScriptLog;
  readonly logs: readonly JsonValue[];
  readonly events: readonly JsonObject[];
  readonly outputs: readonly JsonObject[];
}

async function finish(
  { clock, begun }: Session,
  { stacks, scripted, forms, log, ...seen }: Seen,
): Promise<Traces> {
  // What hangs is let go, and what waits for time gets none: closing waits for calls that are under
  // way.
  for (const { abort } of begun.values()) abort.abort();
  const closed = Promise.all(stacks.map((stack) => stack.close()));
  await Promise.race([closed, endingWithin(closed.then(() => ({ done: true })))]);
  const files = await forms.readFiles();
  for (const tools of scripted) tools.reportUnused();
  forms.reportUnused();
  return { ...seen, sinks: forms.sinks, files, timers: clock.pending, ...log };
}

function recordingLogger(): { logger: Logger; logs: readonly JsonValue[] } {
  const logs: JsonValue[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void logs.push({ level, message, fields: toWire(fields) });
  return {
    logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    logs,
  };
}
