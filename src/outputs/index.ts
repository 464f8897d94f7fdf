/** `allium/outputs`: large results, kept aside and read on in. */

export { keepAside, largeTextOf, type Shown, shownPart } from './large-output.ts';
export { readOutputTool, type ReadOutputToolOptions } from './read-output-tool.ts';
