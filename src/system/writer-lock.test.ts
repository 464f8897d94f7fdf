import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testFolder } from '../receipts/receipts.fixture.ts';
import { replaceLock, takeLock } from './writer-lock.ts';

/** A lock whose owner is this process, with some of it changed. */
function lockOf(changes: object): string {
  const path = join(testFolder(), 'a.lock');
  const release = takeLock(path);
  const owner = JSON.parse(readFileSync(path, 'utf8')) as object;
  release?.();
  writeFileSync(path, JSON.stringify({ ...owner, ...changes }));
  return path;
}

describe('takeLock', () => {
  it('gives a lock that nobody has, and again when it was given back', () => {
    const path = join(testFolder(), 'a.lock');

    const release = takeLock(path);
    expect(release).not.toBeNull();
    expect(takeLock(path)).toBeNull();
    release?.();
    expect(takeLock(path)).not.toBeNull();
  });

  it('leaves nothing behind', () => {
    const path = join(testFolder(), 'a.lock');
    takeLock(path)?.();

    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it.each([
    ['a dead process', { pid: spawnSync('true').pid }],
    ['a process whose number was given to another one', { start: '1' }],
    ['a process from before the machine was started', { boot: 'another' }],
    ['no process', { pid: 0 }],
    ['a whole group of processes', { pid: -1 }],
  ])('takes over from %s', (_name, changes) => {
    const path = lockOf(changes);

    expect(takeLock(path)).not.toBeNull();
    expect(takeLock(path)).toBeNull();
    expect(readdirSync(dirname(path))).toEqual(['a.lock']);
  });

  it.each([
    ['on another machine', { host: 'another', pid: 0 }],
    ['in another container', { space: 'pid:[1]', pid: 0 }],
  ])('cannot tell whether a process %s lives, and leaves it alone', (_name, changes) => {
    expect(takeLock(lockOf(changes))).toBeNull();
  });

  it.each(['', '{', 'null', '[]'])('takes over what a power cut left: %j', (content) => {
    const path = join(testFolder(), 'a.lock');
    writeFileSync(path, content);

    expect(takeLock(path)).not.toBeNull();
  });

  it('leaves a lock alone that somebody else is taking over', () => {
    const path = lockOf({ start: '1' });
    writeFileSync(`${path}.takeover`, '');

    expect(takeLock(path)).toBeNull();
  });

  it('leaves a lock alone that somebody else took over since it was looked at', () => {
    const path = join(testFolder(), 'a.lock');
    writeFileSync(path, 'the new owner');
    writeFileSync(`${path}.part`, 'a late one');

    expect(replaceLock(`${path}.part`, path, 'the dead owner')).toBe(false);
    expect(readFileSync(path, 'utf8')).toBe('the new owner');
    expect(readdirSync(dirname(path)).sort()).toEqual(['a.lock', 'a.lock.part']);
  });

  it('gives back only what is still its own', () => {
    const path = join(testFolder(), 'a.lock');
    const release = takeLock(path);
    writeFileSync(path, 'somebody else');
    release?.();

    expect(readFileSync(path, 'utf8')).toBe('somebody else');
  });
});
