/**
 * What was wrong with the other side, told without repeating what it sent, and not as often as it
 * happens.
 */

/** What goes wrong on a bridge without ending it. */
export type BridgeProblemKind =
  /** A line is not JSON, not UTF-8, or no message of JSON-RPC 2.0. */
  | 'unreadable_line'
  /** A line is longer than `maxLineBytes`. It was not kept. */
  | 'line_too_long'
  /**
   * An answer to nothing that is open: a second one, a late one, or one for a call that never was.
   */
  | 'unknown_id'
  /** A request or a notification that this side does not know. */
  | 'unknown_method'
  /** A tool definition was left out. */
  | 'refused_tool'
  /** An answer to a call does not have the form of one. The call has failed. */
  | 'bad_answer'
  /**
   * An audit event or a progress notification was not sent: the other side does not read, or it is
   * longer than a line may be.
   */
  | 'not_sent'
  /** `onAudit` threw. */
  | 'audit_failed';

export interface BridgeProblem {
  readonly kind: BridgeProblemKind;
  /** For people. Holds nothing that was sent but the names of tools. */
  readonly message: string;
  /** How many of this kind there have been on this bridge. */
  readonly count: number;
}

export type TellProblem = (kind: BridgeProblemKind, message: string) => void;

/**
 * Problems of a kind are told when their number doubles: who floods a bridge with them does not
 * flood a log. Definitions are all told.
 */
export function problemTeller(onProblem: (problem: BridgeProblem) => void = () => {}): TellProblem {
  const counts = new Map<BridgeProblemKind, number>();
  return (kind, message) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (kind !== 'refused_tool' && !Number.isInteger(Math.log2(count))) return;
    try {
      onProblem(Object.freeze({ kind, message, count }));
    } catch {
      // Who is only told cannot break a call.
    }
  };
}
