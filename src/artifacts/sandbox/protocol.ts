/**
 * What the main side and a worker say to each other. Data only: nothing that either side says is
 * run by the other.
 */

import type { TracebackLine } from '../../core/contract/errors.ts';
import type { ScriptText } from '../artifact.ts';
import type { ScriptErrorKind } from './script-error.ts';
import type { ScriptLibrary } from './script-request.ts';

/** A value for a script, its functions replaced by numbers. */
export type Described =
  | { readonly json: unknown }
  /** Which of the run's host functions it is. */
  | { readonly host: number }
  | { readonly members: readonly (readonly [name: string, value: Described])[] };

/** A script to run. */
export interface Job extends ScriptText {
  readonly type: 'run';
  readonly entry:
    | { readonly call: string; readonly args: readonly unknown[]; readonly kwargs: object }
    | { readonly expression: true }
    | null;
  readonly wantsGlobals: boolean;
  readonly predeclared: readonly (readonly [name: string, value: Described])[];
  readonly libraries: readonly ScriptLibrary[];
  readonly maxSteps: number;
  readonly maxBytes: number;
  readonly maxHostCalls: number;
  readonly maxPrintBytes: number;
  readonly plain: boolean;
}

/** What a host function came to. */
export type HostAnswer =
  | { readonly type: 'answer'; readonly value: unknown }
  | { readonly type: 'error'; readonly message: string }
  | { readonly type: 'stop'; readonly value: unknown };

/** How a job ended. */
export type JobEnding =
  | {
      readonly type: 'done';
      readonly value: unknown;
      readonly globals: object | null;
      readonly steps: number;
      readonly bytes: number;
    }
  | {
      readonly type: 'failed';
      readonly kind: ScriptErrorKind;
      readonly message: string;
      readonly line: number;
      readonly column: number;
      readonly traceback: readonly TracebackLine[];
    };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'print'; readonly text: string }
  | {
      readonly type: 'call';
      readonly host: number;
      readonly args: readonly unknown[];
      readonly kwargs: object;
    }
  | JobEnding;

/** Handed to a worker when it is made: it sleeps on this until its call has been answered. */
export interface WorkerSetup {
  readonly bell: SharedArrayBuffer;
}
