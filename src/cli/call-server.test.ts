import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allium, projectWith } from './run-command.fixture.ts';

const filesystem = resolve(
  import.meta.dirname,
  '../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
);
const YAML = `version: 1
layers: [requiredReason]
tools:
  - mcp: { command: "${process.execPath}", args: ["${filesystem}", .] }
    prefix: fs
    only: [read_text_file, list_directory]
`;

describe('the command with an MCP server', () => {
  it('calls its tools, prints the answer alone, and ends with it', () => {
    const folder = projectWith({ 'allium.yaml': YAML, 'note.txt': 'hello' });
    const args = JSON.stringify({ path: join(folder, 'note.txt'), reason: 'to see' });
    const { code, out } = allium(folder, ['call', 'fs_read_text_file', '--args', args]);

    expect({ code, out }).toEqual({ code: 0, out: 'hello\n' });
    expect(allium(folder, ['call', 'fs_write_file', '--args', args]).code).toBe(1);
  });

  it('explains what layers add to its tools', () => {
    const { code, out } = allium(projectWith({ 'allium.yaml': YAML }), ['explain']);

    expect(code).toBe(0);
    expect(out).toContain('fs_read_text_file');
    expect(out).toContain('reason');
    expect(out).not.toContain('write_file');
  });
});
