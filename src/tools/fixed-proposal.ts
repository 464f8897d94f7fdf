/**
 * What a tool asks for where that is the same for every call, and matters only where rules were
 * laid down.
 */

import type { JsonObject } from '../core/json/json-value.ts';

type Propose = () => readonly JsonObject[];

/**
 * By identity: only what was made here is known to be readable, and no transform of a tool loses
 * it.
 */
const fixed = new WeakSet<object>();

/** Proposes to call this tool of an MCP server. */
export function proposeInvoke(server: string, tool: string): Propose {
  const proposed = Object.freeze([Object.freeze({ kind: 'mcp.invoke', server, tool })]);
  const propose: Propose = () => proposed;
  // What the permission check could not read it has to refuse, so that one is asked.
  if (isText(server) && isText(tool)) fixed.add(propose);
  return propose;
}

const isText = (name: string): boolean => name !== '' && !name.includes('\0');

/**
 * Whether a permission check of this tool's calls can only come to a yes where nothing is laid down
 * for them.
 */
export const isFixedProposal = (propose: object): boolean => fixed.has(propose);
