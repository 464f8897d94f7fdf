/** What is to be said about a tool, at both seams by the same rule, and when it is written down. */

import type { ToolSpec } from '../core/contract/layer.ts';
import {
  changesFromPin,
  judgeDefinition,
  type PinJudgement,
  type PinVerdict,
  reconcilePins,
} from './judge-definition.ts';
import type { PinStore } from './pin-book.ts';

/**
 * `damaged`: what was pinned cannot be read. `unpinned`: it should have been pinned and could not
 * be.
 */
export type Verdict = PinVerdict | 'damaged' | 'unpinned';

/** What came out about one tool. */
export interface Finding extends Omit<PinJudgement, 'verdict'> {
  readonly verdict: Verdict;
  readonly source: string;
  readonly isRefused: boolean;
  /** What differs, where a person has to look at it. */
  readonly changes: readonly string[];
  /** Pinned by the call that asked. */
  readonly isFresh?: boolean;
  /** What a store threw. */
  readonly cause?: unknown;
}

export interface KeeperOptions {
  readonly store: PinStore;
  readonly source: string;
  readonly onNew: 'pin' | 'refuse';
  readonly onChange: 'refuse' | 'warn';
  /** Told every finding that is not as it should be. */
  readonly tell: (finding: Finding) => void;
}

export interface PinKeeper {
  /** A tool is being shown. Writes nothing: looking at a stack changes nothing. */
  listed(tool: ToolSpec): Finding;
  /** A tool is being called. What was shown before is written down first, all of it. */
  called(toolName: string, tool: ToolSpec | null, now: number): Promise<Finding>;
  /** What is to be said about a tool that was shown; `null` for one that never was. */
  known(toolName: string): Finding | null;
}

export function pinKeeper(options: KeeperOptions): PinKeeper {
  const { source, tell } = options;
  const shown = new Map<string, ToolSpec>();
  const notes = notesFor(options, shown);
  const judged = (tool: ToolSpec): Finding => findingFor(tool, options);
  const told = (finding: Finding): Finding => {
    if (finding.isRefused || isSuspicious(finding.verdict)) tell(finding);
    return finding;
  };

  return {
    listed(tool) {
      if (shown.get(tool.name) !== tool) notes.add(tool);
      shown.set(tool.name, tool);
      return told(judged(tool));
    },
    async called(toolName, given, now) {
      const tool = given ?? shown.get(toolName);
      if (tool === undefined)
        return told({
          toolName,
          source,
          hash: null,
          pin: null,
          changes: [],
          verdict: 'unreadable',
          isRefused: true,
        });
      const before = judged(tool);
      if (before.verdict === 'damaged' || (before.verdict === 'pinned' && notes.isEmpty()))
        return told(before);
      try {
        await notes.write(tool, now);
      } catch (cause) {
        // Only what should have been pinned needs to be written down before it may run.
        if (before.verdict !== 'first' && before.verdict !== 'new') return told(before);
        return told(
          before.isRefused ? before : { ...before, verdict: 'unpinned', isRefused: true, cause },
        );
      }
      const after = judged(tool);
      if (after.verdict === 'pinned')
        return before.verdict === 'pinned' ? after : { ...after, isFresh: true };
      // A store that did not keep what it was given, or a tool that was shown otherwise meanwhile.
      const isLost = !after.isRefused && !isSuspicious(after.verdict);
      return told(isLost ? { ...after, verdict: 'unpinned', isRefused: true } : after);
    },
    known(toolName) {
      const tool = shown.get(toolName);
      return tool === undefined ? null : judged(tool);
    },
  };
}

const isSuspicious = (verdict: Verdict): boolean =>
  verdict === 'changed' || verdict === 'look_alike' || verdict === 'renamed';

/** The rule of both seams. */
function findingFor(tool: ToolSpec, { store, source, onNew, onChange }: KeeperOptions): Finding {
  try {
    const judgement = judgeDefinition(store.read(source), tool);
    const isOdd =
      isSuspicious(judgement.verdict) || (judgement.verdict === 'new' && onNew === 'refuse');
    const changes = isOdd ? changesFromPin(judgement, tool) : [];
    const isRefused =
      judgement.verdict === 'unreadable' ||
      (isOdd && (judgement.verdict === 'new' || onChange === 'refuse'));
    return { ...judgement, source, changes, isRefused };
  } catch (cause) {
    return {
      toolName: tool.name,
      source,
      hash: null,
      pin: null,
      changes: [],
      verdict: 'damaged',
      isRefused: true,
      cause,
    };
  }
}

/**
 * What is still to be written down, by one writer at a time. A failure leaves all of it: what was
 * shown together is pinned together.
 */
function notesFor({ store, source, onNew }: KeeperOptions, shown: ReadonlyMap<string, ToolSpec>) {
  const pending = new Map<string, ToolSpec>();
  let writing: Promise<void> | null = null;
  const writeAll = async (now: number): Promise<void> => {
    const tools = [...pending.values()];
    const listed = shown.size === 0 ? null : [...shown.keys()];
    const seen = { source, tools, pinsNew: onNew === 'pin', listed, now };
    const before = store.read(source);
    if (reconcilePins(before, seen) !== before)
      await store.update(source, (book) => reconcilePins(book, seen));
    for (const tool of tools) if (pending.get(tool.name) === tool) pending.delete(tool.name);
  };
  return {
    add: (tool: ToolSpec) => void pending.set(tool.name, tool),
    isEmpty: () => pending.size === 0,
    async write(tool: ToolSpec, now: number): Promise<void> {
      pending.set(tool.name, tool);
      while (pending.get(tool.name) === tool) {
        writing ??= writeAll(now).finally(() => void (writing = null));
        await writing;
      }
    },
  };
}
