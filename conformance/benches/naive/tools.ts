/**
 * A registry as a dictionary. What is naive about it: the last tool of a name wins, names are
 * sorted so that the list looks tidy, what is shown in a turn is not remembered, and an output
 * schema is only for show.
 */

import {
  type GovernedTools,
  type GovernOptions,
  governTools,
  type Tool,
} from '../../../src/index.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

function govern(options: GovernOptions): GovernedTools {
  const byName = new Map<string, Tool>();
  for (const { outputSchema: _, ...tool } of options.tools) byName.set(tool.name, tool);
  const tools = [...byName.values()].sort((one, other) => one.name.localeCompare(other.name));
  const governed = governTools({ ...options, tools });
  return {
    ...governed,
    advertise({ select }) {
      if (select === undefined) return governed.tools;
      return governed.tools.filter((tool) =>
        typeof select === 'function' ? select(tool) : select.includes(tool.name),
      );
    },
  };
}

export default createSubject({ name: 'naive tools', govern });

export const fails: readonly string[] = [
  'tools.a-turn-is-its-session-and-iteration',
  'tools.a-turn-shows-only-what-was-selected',
  'tools.an-answer-is-held-to-its-schema',
  'tools.selecting-what-is-not-there-is-refused',
  'tools.tools-are-shown-in-their-order',
  'tools.two-tools-of-one-name-are-refused',
];
