import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { messageReader } from './child-transport.ts';

function read(...lines: readonly string[]): readonly JSONRPCMessage[] {
  const messages: JSONRPCMessage[] = [];
  const take = messageReader((message) => void messages.push(message));
  for (const line of lines) take(Buffer.from(`${line}\n`));
  return messages;
}

describe('messageReader', () => {
  it('answers for an answer with a million values, and goes on with the next line', () => {
    const wide = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"list":[${'0,'.repeat(1_000_000)}0]}}}`;
    const plain = { jsonrpc: '2.0', id: 2, result: { content: [] } };
    const error = expect.objectContaining({ code: -32_000, message: 'unreadable' }) as object;

    expect(read(wide, JSON.stringify(plain))).toEqual([{ jsonrpc: '2.0', id: 1, error }, plain]);
  });
});
