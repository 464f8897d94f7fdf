/** Subjects in this process: the built-in layers, or somebody's own under the same names. */

import { type LayerFactory, LAYER_FACTORIES } from '../../src/config/layer-factories.ts';
import { buildLayers } from '../../src/config/build-layers.ts';
import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type JsonObject,
  type JsonValue,
  type Logger,
  type ToolRequest,
  type ToolResult,
  toWire,
} from '../../src/index.ts';
import { settle, type TestClock, testClock } from '../test-kit.ts';
import { memoryOutputs } from './memory-outputs.ts';
import type { CallStep, Setup, Step } from './scenario.ts';
import { type ScenarioTools, scenarioTools } from './scenario-tools.ts';
import type { ScriptLog } from './scripts.ts';
import type { Reply, Subject, SubjectSession, Traces } from './subject.ts';
import { type ScenarioForms, scenarioForms } from './value-forms.ts';

/** What makes a subject somebody's own. */
export interface SubjectOptions {
  /** What it is called in reports. */
  readonly name: string;
  /** Layers of its own, by the name that scenarios use. @default the bundled ones */
  readonly factories?: Readonly<Record<string, LayerFactory>>;
  /** Puts layers and tools together. @default `governTools` */
  readonly govern?: (options: GovernOptions) => GovernedTools;
}

/** A subject from layers and a dispatcher. Scenarios that name a layer it does not replace get the bundled one. */
export function createSubject({ name, factories = {}, govern = governTools }: SubjectOptions): Subject {
  const known = new Map([...LAYER_FACTORIES, ...Object.entries(factories)]);
  return { name, open: async (setup) => openSession(setup, known, govern) };
}

/** The built-in layers and `governTools`. */
export const builtinSubject: Subject = createSubject({ name: 'allium' });

interface Session {
  readonly governed: GovernedTools;
  readonly clock: TestClock;
  readonly begun: Map<string, { readonly ending: Promise<Reply>; readonly abort: AbortController }>;
  calls: number;
}

async function openSession(
  setup: Setup,
  factories: ReadonlyMap<string, LayerFactory>,
  govern: (options: GovernOptions) => GovernedTools,
): Promise<SubjectSession> {
  const clock = testClock();
  const log: ScriptLog = { unused: [], unexpected: [] };
  const forms = scenarioForms(clock, log);
  try {
    return sessionOf(setup, { clock, log, forms }, factories, govern);
  } catch (error) {
    await forms.readFiles(); // Nobody else removes them.
    throw error;
  }
}

function sessionOf(
  { tools, layers = [], host = {} }: Setup,
  { clock, log, forms }: { clock: TestClock; log: ScriptLog; forms: ScenarioForms },
  factories: ReadonlyMap<string, LayerFactory>,
  govern: (options: GovernOptions) => GovernedTools,
): SubjectSession {
  const scripted = scenarioTools(tools, clock, log);
  const built = buildLayers(layers, { factories, forms: forms.forms });
  const prompts = (host.prompts ?? []).map((prompt, index) => promptFrom(prompt, `prompt ${index + 1}`, forms));
  const { logger, logs } = recordingLogger();
  const { outputFiles, outputs } = memoryOutputs();
  let ids = 0;
  const createId = (): string => `id-${(ids += 1)}`;
  // The schema of scenarios has looked at the shape of `host`.
  const options = {
    ...host,
    prompts,
    tools: scripted.tools,
    layers: built,
    clock,
    createId,
    logger,
    outputFiles,
  } as unknown as GovernOptions;
  const governed = govern(options);
  const events: JsonObject[] = [];
  governed.on('*', (event) => void events.push(toWire(event)));
  const session: Session = { governed, clock, begun: new Map(), calls: 0 };
  return {
    do: (step) => doStep(step, session),
    finish: () => finish(session, { scripted, forms, log, logs, events, outputs }),
  };
}

function promptFrom(prompt: JsonValue, where: string, { forms }: ScenarioForms): unknown {
  const [[form, argument] = ['', null]] = Object.entries(prompt as JsonObject); // The schema of scenarios lets through one member.
  return forms.get(form as `$${string}`)?.(argument, where); // One that is no form is nothing, which `governTools` refuses.
}

/** How long a step may take by the real clock. Files and processes need some; nothing else does. */
const PATIENCE_MS = 5_000;

async function doStep(step: Step, session: Session): Promise<Reply> {
  const { governed, clock, begun } = session;
  if ('call' in step) return callStep(step, session);
  if ('advance' in step) return done(clock.advance(step.advance));
  if ('abort' in step) return done(settled(() => begun.get(step.abort)?.abort.abort()));
  if ('result' in step) return (await endingWithin(begun.get(step.result)?.ending)) ?? { pending: true };
  if ('parallel' in step) return parallelStep(step, session);
  if ('batch' in step) return batchStep(step, session);
  if ('advertise' in step) {
    const { advertise: turn, select } = step;
    return replyTo(async () => {
      const shown = governed.advertise({ turn: { ...TURN, ...turn }, ...(select === undefined ? {} : { select }) });
      return { value: shown.map((tool) => toWire(tool)) };
    });
  }
  if ('observe' in step) {
    const { observe: name, args = {}, output, id = nextId(session) } = step;
    return replyTo(governed.observe({ name, arguments: args, id }, output, { turn: TURN }).then(valueOf));
  }
  return endOf(done(governed.close()), step, session);
}

const TURN = Object.freeze({ iteration: 1, sessionId: 'session-1' });

async function callStep(step: CallStep, session: Session): Promise<Reply> {
  const abort = new AbortController();
  const request = requestFrom(step, session);
  const ending = replyTo(session.governed.call(request, { turn: { ...TURN, ...step.turn }, signal: abort.signal }).then(valueOf));
  return endOf(ending, step, session, abort);
}

async function batchStep(step: Extract<Step, { batch: unknown }>, session: Session): Promise<Reply> {
  const abort = new AbortController();
  const { turn = {}, maxConcurrent } = step;
  const requests = step.batch.map((one) => requestFrom(one, session));
  const options = { turn: { ...TURN, ...turn }, signal: abort.signal, ...(maxConcurrent === undefined ? {} : { maxConcurrent }) };
  const ending = session.governed.batch(requests, options).then((results) => ({ values: results.map(valueOf) }));
  return endOf(replyTo(ending), step, session, abort);
}

/** Waits for the end, unless the step was only begun. */
async function endOf(
  ending: Promise<Reply>,
  { begin }: { readonly begin?: string },
  { begun }: Session,
  abort = new AbortController(),
): Promise<Reply> {
  if (begin === undefined) return (await endingWithin(ending)) ?? { pending: true };
  begun.set(begin, { ending, abort });
  return done(settled(() => {}));
}

/** Begun together, in their order, before any of them can end. */
async function parallelStep(step: Extract<Step, { parallel: unknown }>, session: Session): Promise<Reply> {
  const calls = Array.from({ length: step.times ?? 1 }, () => step.parallel).flat();
  return { values: await Promise.all(calls.map((one) => callStep(one, session))) };
}

function requestFrom({ call: name, args = {}, raw, id }: CallStep, session: Session): ToolRequest {
  return { name, arguments: raw ?? args, id: id ?? nextId(session) };
}

const nextId = (session: Session): string => `call-${(session.calls += 1)}`;

const valueOf = (result: ToolResult): Reply => ({ value: toWire(result) });

async function replyTo(work: Promise<Reply> | (() => Promise<Reply>)): Promise<Reply> {
  try {
    return await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return { throws: thrownAs(error) };
  }
}

/** What an error shows of itself in a scenario. */
export function thrownAs(error: unknown): JsonObject {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? { code: error.code } : {};
  return { ...code, message };
}

async function done(work: Promise<unknown>): Promise<Reply> {
  await work;
  return { done: true };
}

async function settled(act: () => void): Promise<void> {
  act();
  await settle();
}

/** `null` for a call that only time would end. */
async function endingWithin(ending: Promise<Reply> | undefined): Promise<Reply | null> {
  if (ending === undefined) return { throws: { message: 'no call was begun under this name' } };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), PATIENCE_MS);
  });
  return Promise.race([ending, late]).finally(() => clearTimeout(timer));
}

interface Seen {
  readonly scripted: ScenarioTools;
  readonly forms: ScenarioForms;
  readonly log: ScriptLog;
  readonly logs: readonly JsonValue[];
  readonly events: readonly JsonObject[];
  readonly outputs: readonly JsonObject[];
}

async function finish({ governed, clock, begun }: Session, { scripted, forms, log, ...seen }: Seen): Promise<Traces> {
  // What hangs is let go, and what waits for time gets none: closing waits for calls that are under way.
  for (const { abort } of begun.values()) abort.abort();
  const closed = governed.close();
  await Promise.race([closed, endingWithin(closed.then(() => ({ done: true })))]);
  const files = await forms.readFiles();
  scripted.reportUnused();
  forms.reportUnused();
  return { ...seen, received: scripted.received, sinks: forms.sinks, files, timers: clock.pending, ...log };
}

function recordingLogger(): { logger: Logger; logs: readonly JsonValue[] } {
  const logs: JsonValue[] = [];
  const at = (level: string) => (fields: object, message: string) => void logs.push({ level, message, fields: toWire(fields) });
  return { logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }, logs };
}
