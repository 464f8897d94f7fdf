/** Configurations of MCP clients: editing them so that servers run behind the proxy, and printing them. */

export { copiesOf, copyFile, type ConfigFile, readConfigFile, replaceFile } from './config-file.ts';
export {
  CLIENTS,
  type Client,
  printConfig,
  type PrintedConfig,
  type PrintOptions,
} from './print-config.ts';
export { programWords, splitCommand, type Started } from './program-words.ts';
export type { HeaderVariable } from './proxy-line.ts';
export { showDiff } from './show-diff.ts';
export {
  type ServerChoice,
  type ServerOutcome,
  type TextOutcome,
  unwrapText,
  type WrapOptions,
  wrapText,
} from './wrap-text.ts';
