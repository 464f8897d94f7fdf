/** The options of `definitionPin`. */

import { expected, option, type OptionTable } from '../../src/layer.ts';
import type { PinStore, QuarantineReport } from '../../src/pins/index.ts';

export interface DefinitionPinOptions {
  /** Where pins are kept. @default files in `pins` of the state folder */
  readonly store?: PinStore;
  /** Where the tools come from, such as the name of an MCP server. @default 'tools' */
  readonly source?: string;
  /** What becomes of a tool that is new in a source with pins. @default 'pin' */
  readonly onNew?: 'pin' | 'refuse';
  /** Whether calls of a tool that has changed are refused, or only recorded. @default 'refuse' */
  readonly onChange?: 'refuse' | 'warn';
  /** How error and description begin. @default what is the matter with the tool */
  readonly message?: string;
  /** Told about a tool that is not what was accepted. @default a warning of the process */
  readonly onQuarantine?: (report: QuarantineReport) => void;
}

const { made, oneOf, string } = expected;

// biome-ignore format: one row for each option
export const OPTIONS: OptionTable<DefinitionPinOptions> = {
  store: option(made('a store with read and update', 'read', 'update'), 'where pins are kept', 'files in `pins` of the state folder'),
  source: option(string, 'where the tools come from, such as the name of an MCP server; every source has pins of its own', '`tools`'),
  onNew: option(oneOf('pin', 'refuse'), "what becomes of a tool that comes to a source which has pins: `'pin'`, or `'refuse'` until somebody accepts it", "`'pin'`"),
  onChange: option(oneOf('refuse', 'warn'), "whether calls of a tool that has changed are refused (`'refuse'`), or only recorded (`'warn'`)", "`'refuse'`"),
  message: option(string, 'how the error begins, and what is shown in the place of the description', 'what is the matter with the tool'),
  onQuarantine: option(expected.function, 'told about a tool that is not what was accepted, once for each definition, with what differs', 'a warning of the process'),
};
