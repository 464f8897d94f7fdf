/**
 * A gateway as they are usually built: a client and a server of the SDK, back to back. With
 * `--naive` the naive stack is between them.
 */

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { type NaiveExecutor, naiveStack } from './naive-stack.ts';

const NAIVE = '--naive=';
const [first = '', ...others] = process.argv.slice(2);
const receipts = first.startsWith(NAIVE) ? first.slice(NAIVE.length) : null;
const [command = '', ...args] = receipts === null ? [first, ...others] : others;

const name = { name: 'bench-gateway', version: '0.0.0' };
const upstream = new Client(name);
await upstream.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));

const send: NaiveExecutor = (params) => upstream.callTool(params);
const call = receipts === null ? send : naiveStack(receipts, send);

const server = new Server(name, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => upstream.listTools(params));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => call(params));
server.onclose = () => void upstream.close().finally(() => process.exit());
process.stdin.once('end', () => void server.close());
process.once('SIGTERM', () => void server.close());
await server.connect(new StdioServerTransport());
