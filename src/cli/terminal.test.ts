import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasPty, KEYS } from '../../middleware/consent/pty.fixture.ts';
import { atTerminalIn, tempFolder } from './cli.fixture.ts';

/** Runs a command at a terminal to its end. */
async function screenOf(folder: string, ...args: readonly string[]) {
  const { code, stdout } = await atTerminalIn(folder, ...args).ended();
  return { code, screen: stdout, text: stripVTControlCharacters(stdout) };
}

describe.runIf(hasPty)('a first hour at a terminal', () => {
  it('goes from init to a verified receipt', async () => {
    const folder = tempFolder();
    expect(await screenOf(folder, 'init')).toMatchObject({ code: 0, text: expect.stringContaining('wrote allium.yaml') as string });
    expect(await screenOf(folder, 'explain')).toMatchObject({ code: 0, text: expect.stringContaining('auditLog') as string });

    const calling = atTerminalIn(folder, 'call', 'write_note', '--args', '{"text":"buy onions","reason":"to try it"}');
    await calling.shows('Allow this call?');
    calling.child.stdin?.write(KEYS.up + KEYS.enter);
    expect((await calling.ended()).code).toBe(0);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toContain('buy onions');

    const listed = await screenOf(folder, 'receipts', 'list');
    expect(listed.text).toMatch(/write_note +ok/);
    expect(listed.screen).not.toBe(listed.text);
    expect(listed.text.split('\r\n').every((line) => line.length <= 80)).toBe(true);

    const verified = await screenOf(folder, 'receipts', 'verify');
    expect(verified).toMatchObject({ code: 0, text: expect.stringContaining('1 receipt') as string });
    expect(verified.screen).toContain('\r');

    const shown = await screenOf(folder, 'receipts', 'stats');
    expect(shown.text).toContain('write_note');
  });

  it('shows the names of schemas, and draws no colours where there is no colour', async () => {
    const { code, screen } = await screenOf(tempFolder(), 'schema', '--list');

    expect(code).toBe(0);
    expect(screen).toContain('config');
    expect(screen).toBe(stripVTControlCharacters(screen));
  });
});
