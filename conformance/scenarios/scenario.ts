/**
 * A scenario: one behaviour, written as data. Tools with scripted answers, a stack, steps, and what
 * is to be seen. The stack is written as in a config file; what is expected is written as it goes
 * over the wire, in snake_case.
 */

import type { JsonObject, JsonValue } from '../../src/index.ts';

/** One conformance case. */
export interface Scenario {
  /** Unique in a suite: `<area>.<what it shows>`. */
  readonly id: string;
  /** A statement that is true when the scenario passes. */
  readonly title: string;
  /** The requirement it proves. */
  readonly requirement?: string;
  /** Where that requirement comes from. */
  readonly source?: string | readonly string[];
  /** @default one tool `echo` that answers with its arguments */
  readonly tools?: readonly ScenarioTool[];
  /** Outermost first. @default none */
  readonly layers?: readonly JsonValue[];
  readonly host?: ScenarioHost;
  readonly steps?: readonly Step[];
  /** What is to be seen once all steps are done and everything is closed. */
  readonly expect?: FinalExpectation;
}

/** A tool and what it answers. `answers` is given every time, `script` call by call. */
export interface ScenarioTool extends JsonObject {
  readonly name: string;
}

/** What a host hands to `governTools` beside tools and layers. */
export interface ScenarioHost {
  readonly limits?: JsonObject;
  readonly onUnknownTool?: 'repair' | 'throw';
  readonly onInvalidArgs?: 'repair' | 'throw';
  readonly state?: JsonValue;
  readonly stores?: JsonObject;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Channels on which a person is asked, each a `$script`. */
  readonly prompts?: readonly JsonValue[];
  /** Whether answers for always are kept. @default false */
  readonly grants?: boolean;
}

/** A request for one call, and what is to come of it. */
export interface CallStep {
  readonly call: string;
  /** @default {} */
  readonly args?: JsonObject;
  /** The arguments as the model wrote them, instead of `args`. */
  readonly raw?: string;
  /** @default `call-<n>` */
  readonly id?: string;
  readonly turn?: JsonObject;
  /** Begins the call under this name and goes on; `result` or `abort` speak of it later. */
  readonly begin?: string;
  readonly expect?: JsonValue;
}

/** What somebody decided. Anything may stand here: what is no decision is refused. */
export interface DecisionStep {
  readonly decision?: JsonObject;
  readonly expect?: JsonValue;
}

/** Takes up a call that waits. */
export interface ResumeStep extends DecisionStep {
  /** The id of the call. */
  readonly resume: string;
  /** Begins under this name and goes on. */
  readonly begin?: string;
}

/** One thing that is done. */
export type Step =
  | CallStep
  | ResumeStep
  | (DecisionStep & {
      /** The id of the call; the answer is written down, and nothing runs. */ readonly answer: string;
    })
  | {
      /** A new stack over the same stores; what is named here replaces what the scenario says. */ readonly restart: Setup;
    }
  | {
      readonly parallel: readonly (CallStep | ResumeStep)[];
      readonly times?: number;
      readonly expect?: JsonValue;
    }
  | {
      readonly batch: readonly CallStep[];
      readonly maxConcurrent?: number;
      readonly turn?: JsonObject;
      readonly begin?: string;
      readonly expect?: JsonValue;
    }
  | { readonly advance: number }
  | { readonly abort: string }
  | { readonly result: string; readonly expect?: JsonValue }
  | {
      readonly advertise: JsonObject;
      readonly select?: readonly string[];
      readonly expect?: JsonValue;
    }
  | {
      readonly observe: string;
      readonly args?: JsonObject;
      readonly output: JsonValue;
      readonly id?: string;
      readonly expect?: JsonValue;
    }
  | { readonly close: true; readonly begin?: string };

/** What is to be seen at the end. Left out means: not looked at. */
export interface FinalExpectation {
  /** Putting the stack together fails like this. Nothing else can be expected then. */
  readonly throws?: JsonValue;
  /** What reached the tools, in order: `{ tool, args, call_id }`. */
  readonly received?: JsonValue;
  readonly events?: JsonValue;
  /** What `{ $sink: receipts }` was given. */
  readonly receipts?: JsonValue;
  /** What `{ $sink: spans }` was given. */
  readonly spans?: JsonValue;
  /** What other sinks were given, by their names. */
  readonly sinks?: JsonObject;
  /** Receipt files of `{ $files: receipts }`: their lines, and what verifying them says. */
  readonly files?: JsonValue;
  /** Large results that were kept aside: `{ session_id, text, media_type }`. */
  readonly outputs?: JsonValue;
  /** What the host's logger was told. */
  readonly logs?: JsonValue;
  /** Timers that are left when everything is closed. */
  readonly timers?: JsonValue;
  /** Texts that must not be anywhere but in what the tools received. */
  readonly nowhere?: readonly string[];
}

/** What a subject is asked to put together. */
export type Setup = Pick<Scenario, 'tools' | 'layers' | 'host'>;
