/** What a server has said about its tools, and what became of it since. */

import { createRegistry, type Registry } from '../../tools/registry.ts';
import type { ReportProblem } from './problem.ts';
import type { Definition } from './read-tool.ts';

export interface ToolBook {
  registry(): Registry;
  definitionOf(name: string): Definition | undefined;
  /** Takes a new list, reports what differs, and tells `onChange` if anything does. */
  turnTo(
    registry: Registry,
    definitions: ReadonlyMap<string, Definition>,
    onChange: (registry: Registry) => void,
  ): Registry;
  /** Why a call that was decided about by this definition must not be sent, or `null`. */
  objectionTo(definition: Definition): string | null;
  /** The host has been given the list as it is now. */
  noteGiven(): void;
  /** The same as `objectionTo` for a tool that the host defined itself: what the server says of it is held to the list that the host was given last. */
  objectionToName(name: string): string | null;
}

export function createToolBook(report: ReportProblem): ToolBook {
  let registry = createRegistry([], { names: 'mcp' });
  let definitions: ReadonlyMap<string, Definition> | null = null;
  let given: ReadonlyMap<string, Definition> | null = null;
  const objectionTo = (name: string, hash: string | undefined): string | null => {
    const now = definitions?.get(name);
    if (now?.hash === hash) return null;
    if (now === undefined) return `The server does not offer "${name}" any more. Nothing was sent.`;
    return `The server describes "${name}" differently than when the call was decided about. Nothing was sent.`;
  };
  return {
    registry: () => registry,
    definitionOf: (name) => definitions?.get(name),
    turnTo(next, found, onChange) {
      const before = definitions;
      definitions = found;
      // A list that says the same keeps its registry, whose tools somebody may hold.
      if (before !== null && !differs(before, found, report)) return registry;
      registry = next;
      if (before !== null) onChange(next);
      return next;
    },
    objectionTo: ({ name, hash }) => objectionTo(name, hash),
    noteGiven: () => void (given = definitions),
    objectionToName: (name) => objectionTo(name, given?.get(name)?.hash),
  };
}

function differs(
  before: ReadonlyMap<string, Definition>,
  after: ReadonlyMap<string, Definition>,
  report: ReportProblem,
): boolean {
  let isSame = before.size === after.size;
  for (const [name, { hash }] of before) {
    const now = after.get(name);
    if (now?.hash === hash) continue;
    isSame = false;
    if (now === undefined)
      report('tool_gone', 'the server does not offer this tool any more', name);
    else
      report('definition_changed', 'the server describes this tool differently than before', name);
  }
  return !isSame;
}
