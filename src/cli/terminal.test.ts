import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasPty, KEYS } from '../consent/pty.fixture.ts';
import { alliumIn, atTerminalIn, tempFolder } from './cli.fixture.ts';

/** Runs a command at a terminal to its end. */
async function screenOf(folder: string, ...args: readonly string[]) {
  const { code, stdout } = await atTerminalIn(folder, ...args).ended();
  return { code, screen: stdout, text: stripVTControlCharacters(stdout) };
}

describe.runIf(hasPty)('a first hour at a terminal', () => {
  it('goes from init to a verified receipt', async () => {
    const folder = tempFolder();
    expect(await screenOf(folder, 'init')).toMatchObject({
      code: 0,
      text: expect.stringContaining('wrote allium.yaml') as string,
    });
    expect(await screenOf(folder, 'explain')).toMatchObject({
      code: 0,
      text: expect.stringContaining('auditLog') as string,
    });

    const calling = atTerminalIn(
      folder,
      'call',
      'write_note',
      '--args',
      '{"text":"buy onions","reason":"to try it"}',
    );
    await calling.shows('Allow this call?');
    calling.child.stdin?.write(KEYS.up + KEYS.enter);
    expect((await calling.ended()).code).toBe(0);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toContain('buy onions');

    const listed = await screenOf(folder, 'receipts', 'list');
    expect(listed.text).toMatch(/write_note +ok/);
    expect(listed.screen).not.toBe(listed.text);
    expect(listed.text.split('\r\n').every((line) => line.length <= 80)).toBe(true);

    const verified = await screenOf(folder, 'receipts', 'verify');
    expect(verified).toMatchObject({
      code: 0,
      text: expect.stringContaining('1 receipt') as string,
    });
    expect(verified.screen).toContain('\r');

    const shown = await screenOf(folder, 'receipts', 'stats');
    expect(shown.text).toContain('write_note');
  });

  it('asks receipts, approvals, grants, pins and policies', async () => {
    const folder = tempFolder();
    await screenOf(folder, 'init');
    // Kept from a person on purpose: a call without a terminal has to wait.
    const waiting = alliumIn(
      folder,
      'call',
      'write_note',
      '--args',
      '{"text":"buy onions","reason":"to try it"}',
    );
    const [id = ''] = /approval_[\w-]+/.exec(waiting.stdout + waiting.stderr) ?? [];
    const [receipt] = alliumIn(folder, 'receipts', 'list', '--json').stdout.split('\n');
    const { tool_call_id: call = '' } = JSON.parse(receipt ?? '{}') as {
      readonly tool_call_id?: string;
    };
    const cases = `
policy:
  policies: [{ rulesPolicy: { rules: [{ id: no, decision: deny, tool: rm }] } }]
cases: [{ name: never, request: { tool: rm }, expect: deny, code: no }]
`;
    writeFileSync(join(folder, 'cases.yaml'), cases);
    const screens = [
      ['receipts', 'show', call, 'approval_required'],
      ['receipts', 'export', '--format', 'csv', 'write_note'],
      ['approvals', 'list', 'write_note'],
      ['approvals', 'show', id, 'buy onions'],
      ['grants', 'list', ''],
      ['pins', 'list', ''],
      ['policy', 'test', 'cases.yaml', '1 '],
    ];
    for (const words of screens) {
      const shown = words.at(-1) ?? '';
      const { code, text } = await screenOf(folder, ...words.slice(0, -1));
      expect({ words, code, hasText: text.includes(shown) }).toEqual({
        words,
        code: 0,
        hasText: true,
      });
    }

    const approving = atTerminalIn(folder, 'approvals', 'approve', id, '--by', 'ada');
    await approving.shows('changes nothing: ');
    approving.child.stdin?.write(`${/type (\d{4});/.exec(approving.seen())?.[1] ?? ''}\r`);
    expect((await approving.ended()).stdout).toContain(`approved ${id.slice(0, 16)}`);

    const tail = atTerminalIn(folder, 'receipts', 'tail');
    await tail.shows('write_note');
    tail.child.stdin?.write('\u0003');
    expect((await tail.ended()).signal).toBeNull();
    const resumed = await screenOf(folder, 'call', '--resume', id);
    expect(resumed.code).toBe(0);
    expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toContain('buy onions');
  });

  it('shows the names of schemas, and draws no colours where there is no colour', async () => {
    const { code, screen } = await screenOf(tempFolder(), 'schema', '--list');

    expect(code).toBe(0);
    expect(screen).toContain('config');
    expect(screen).toBe(stripVTControlCharacters(screen));
  });
});
