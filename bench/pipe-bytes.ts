/**
 * A process between a client and a server that looks at nothing. No process in that place can be
 * faster.
 */

import { spawn } from 'node:child_process';

const [command = '', ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
server.once('exit', (code) => process.exit(code ?? 0));
process.once('SIGTERM', () => server.kill());
