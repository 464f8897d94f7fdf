/**
 * A process that is one server and starts several: `{ name, command, args }[]` as JSON in its first
 * argument.
 */

import { systemClock } from '../../core/time/clock.ts';
import { relay } from '../proxy/relay.ts';
import { childLink, type ServerCommand, streamLink } from '../stdio/stdio-links.ts';
import { aggregateLinks } from './aggregate-links.ts';

const [, , text = '[]', slowMs = '5000'] = process.argv;
const servers = JSON.parse(text) as readonly (ServerCommand & { readonly name: string })[];
const report = (problem: string): void => void process.stderr.write(`${problem}\n`);

const upstreams = servers.map(({ name, ...command }) => ({
  name,
  open: () => childLink(command, process.stderr),
}));
const joined = aggregateLinks(upstreams, {
  report,
  slowMs: Number(slowMs),
  clock: systemClock,
  version: 'test',
});
const running = await relay(streamLink(process.stdin, process.stdout), joined, {}, report);
await running.ended;
process.exit(0);
