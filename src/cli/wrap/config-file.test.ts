import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copiesOf, copyFile, readConfigFile, replaceFile } from './config-file.ts';

const going = new AbortController().signal;
const code = (reason: string): unknown =>
  expect.objectContaining({
    code: 'ERR_CLIENT_CONFIG',
    details: expect.objectContaining({ reason }) as unknown,
  });

function folderWith(content: string | Buffer = '{}', name = 'mcp.json') {
  const folder = mkdtempSync(join(tmpdir(), 'allium-client-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return { folder, path, list: () => readdirSync(folder).sort() };
}

describe('a configuration on disk', () => {
  it('is replaced as a whole, with its rights, and leaves nothing beside it', async () => {
    const { path, list } = folderWith();
    chmodSync(path, 0o640);
    await replaceFile(await readConfigFile(path), '{"a":1}', going);

    expect(readFileSync(path, 'utf8')).toBe('{"a":1}');
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(list()).toEqual(['mcp.json']);
  });

  it('is another file afterwards: whoever has it open reads the old text to its end', async () => {
    const { path } = folderWith();
    const { ino } = statSync(path);
    await replaceFile(await readConfigFile(path), '{"a":1}', going);

    expect(statSync(path).ino).not.toBe(ino);
  });

  it('is reached through a link, and the link stays', async () => {
    const { folder, path, list } = folderWith();
    const name = join(folder, 'link.json');
    symlinkSync('mcp.json', name);
    const file = await readConfigFile(name);
    await copyFile(file);
    await replaceFile(file, '{"a":1}', going);

    expect(lstatSync(name).isSymbolicLink()).toBe(true);
    expect(readlinkSync(name)).toBe('mcp.json');
    expect(readFileSync(path, 'utf8')).toBe('{"a":1}');
    expect(list()).toEqual(['link.json', 'link.json.allium-backup', 'mcp.json']);
  });

  it.each([
    ['a change of its text', (path: string) => writeFileSync(path, '{"mine":1}')],
    ['its removal', (path: string) => rmSync(path)],
    [
      'another link in its place',
      (path: string) => {
        writeFileSync(`${path}.other`, '{}');
        rmSync(path);
        symlinkSync(`${path}.other`, path);
      },
    ],
  ])('is not replaced after %s', async (_name, change) => {
    const { path, list } = folderWith();
    const file = await readConfigFile(path);
    change(path);
    const before = list();

    await expect(replaceFile(file, '{"a":1}', going)).rejects.toEqual(code('changed_meanwhile'));
    expect(list()).toEqual(before);
  });

  it('is not replaced when somebody has asked to stop', async () => {
    const { path, list } = folderWith();

    await expect(
      replaceFile(await readConfigFile(path), '{"a":1}', AbortSignal.abort('SIGINT')),
    ).rejects.toBe('SIGINT');
    expect(readFileSync(path, 'utf8')).toBe('{}');
    expect(list()).toEqual(['mcp.json']);
  });

  it('is copied as private as it is', async () => {
    const { path } = folderWith('{"a":"secret"}');
    chmodSync(path, 0o600);
    const copy = await copyFile(await readConfigFile(path));

    expect(copy).toBe(`${path}.allium-backup`);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(readFileSync(copy, 'utf8')).toBe('{"a":"secret"}');
  });

  it('keeps copies that differ, and makes none twice', async () => {
    const { path, list } = folderWith('one');
    for (const text of ['one', 'two', 'one', 'three', 'two']) {
      writeFileSync(path, text);
      await copyFile(await readConfigFile(path));
    }
    writeFileSync(`${path}.allium-backup.x`, 'four');
    writeFileSync(`${path}.allium-backup.3`, Buffer.from([0xff]));

    expect(await copiesOf(await readConfigFile(path))).toEqual(['one', 'two', 'three']);
    expect(list()).toContain('mcp.json.allium-backup.2');
  });

  it('keeps every byte, a byte order mark and the line ends too', async () => {
    const text = '\ufeff{\r\n}\r\n';
    const { path } = folderWith(text);
    const file = await readConfigFile(path);
    await replaceFile(file, file.text, going);

    expect(readFileSync(path)).toEqual(Buffer.from(text));
  });

  it('is refused where it is not UTF-8, has another name, or is no file', async () => {
    const { folder, path } = folderWith(Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(readConfigFile(path)).rejects.toEqual(code('unreadable'));
    await expect(readConfigFile(folder)).rejects.toEqual(code('unreadable'));
    writeFileSync(path, '{}');
    linkSync(path, join(folder, 'other.json'));
    await expect(readConfigFile(path)).rejects.toEqual(code('not_replaceable'));
    await expect(readConfigFile(join(folder, 'none.json'))).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it.skipIf(process.platform === 'win32')('does not wait for a pipe', async () => {
    const { folder } = folderWith();
    execFileSync('mkfifo', [join(folder, 'pipe')]);

    await expect(readConfigFile(join(folder, 'pipe'))).rejects.toEqual(code('unreadable'));
  });
});

describe('a twin that writes into the file', () => {
  it('is seen half way, which ours never is', async () => {
    const { path } = folderWith('{"old":true}');
    const large = `{"new":"${'x'.repeat(1_000_000)}"}`;
    const seen = new Set<string>();
    const look = () => void seen.add(readFileSync(path, 'utf8'));
    // Half of a write, as a crash leaves it.
    const naive = () => writeFileSync(path, large.slice(0, large.length / 2));
    const file = await readConfigFile(path);
    const timer = setInterval(look, 0);
    await replaceFile(file, large, going);
    clearInterval(timer);
    look();

    expect([...seen].every((text) => text === '{"old":true}' || text === large)).toBe(true);
    naive();
    expect([large, '{"old":true}']).not.toContain(readFileSync(path, 'utf8'));
  });
});
