/** The relay without a stack, as a program: `bare-relay.fixture.js <command> [args]`. */

import { relay } from '../../../src/mcp/proxy/relay.ts';
import { childLink, streamLink } from '../../../src/mcp/stdio/stdio-links.ts';

const [command = '', ...args] = process.argv.slice(2);
const running = await relay(
  streamLink(process.stdin, process.stdout),
  childLink({ command, args }, process.stderr),
  {},
  () => {},
);
await running.ended;
process.exit(0);
