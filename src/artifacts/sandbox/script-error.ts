/** What a script that came to nothing rejects with. */

import { AlliumError, type ErrorDetails, type TracebackLine } from '../../core/contract/errors.ts';

/** Why: the language's own reasons, and those of the place it runs in. */
const SCRIPT_ERROR_KINDS = Object.freeze([
  ...(['syntax', 'resolve', 'eval', 'steps', 'memory', 'fail'] as const),
  ...(['deadline', 'cancelled', 'crashed', 'output', 'host_calls', 'busy'] as const),
]);
export type ScriptErrorKind = (typeof SCRIPT_ERROR_KINDS)[number];

/**
 * Where it happened, as far as it happened in the script. Lines and columns are those of the
 * artifact file, from 1.
 */
type ScriptErrorPlace = Pick<ErrorDetails, 'line' | 'column' | 'traceback'>;

/**
 * An `ERR_STARLARK`. The message may hold text of the script, and what it said with `fail()`;
 * `details` hold places and the kind.
 */
export class ScriptError extends AlliumError {
  readonly kind: ScriptErrorKind;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly traceback: readonly TracebackLine[];

  constructor(
    kind: ScriptErrorKind,
    message: string,
    place: ScriptErrorPlace = {},
    hidden: { cause?: unknown } = {},
  ) {
    const { line, column, traceback = [] } = place;
    super(
      'ERR_STARLARK',
      message,
      {
        kind,
        ...(line === undefined ? {} : { line }),
        ...(column === undefined ? {} : { column }),
        traceback,
      },
      hidden,
    );
    this.kind = kind;
    this.line = line;
    this.column = column;
    this.traceback = traceback;
  }
}
