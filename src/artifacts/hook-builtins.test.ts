import { describe, expect, it } from 'vitest';
import type { FileGrants } from './artifact.ts';
import type { BuiltinGrants } from './builtins/builtin-use.ts';
import { effectiveGrants } from './hook-builtins.ts';

const ALL: FileGrants = {
  workspace: 'data',
  allowedDomains: ['example.org', 'api.example.com'],
  allowedPorts: [443, 8443],
  env: ['TOKEN', 'HOME'],
  shell: true,
  meta: true,
  maxOutputBytes: 1000,
};
const given = (host?: BuiltinGrants, file: FileGrants = ALL) =>
  effectiveGrants('/project', file, host);

describe('effectiveGrants', () => {
  it('leaves to a file what its host says nothing about, except registering', () => {
    expect(given()).toEqual({ ...ALL, workspace: '/project', folder: 'data', meta: false });
  });

  it('gives a file that asks for nothing its project, and nothing else', () => {
    expect(given({}, {})).toEqual({
      workspace: '/project',
      folder: '.',
      allowedDomains: [],
      env: [],
      shell: false,
      meta: false,
    });
  });

  it.each<[string, BuiltinGrants, BuiltinGrants]>([
    ['registering', { meta: true }, { meta: true }],
    ['no shell', { shell: false }, { shell: false }],
    ['another workspace', { workspace: '/elsewhere' }, { workspace: '/elsewhere', folder: 'data' }],
    ['fewer variables', { env: ['TOKEN', 'PATH'] }, { env: ['TOKEN'] }],
    ['no variables', { env: [] }, { env: [] }],
    ['fewer ports', { allowedPorts: [443] }, { allowedPorts: [443] }],
    ['less output', { maxOutputBytes: 10 }, { maxOutputBytes: 10 }],
    ['more output', { maxOutputBytes: 10_000 }, { maxOutputBytes: 1000 }],
    ['no hosts', { allowedDomains: [] }, { allowedDomains: [] }],
    [
      'every host',
      { allowedDomains: ['*'] },
      { allowedDomains: ['example.org', 'api.example.com'] },
    ],
    [
      'a wider and a narrower host',
      { allowedDomains: ['www.Example.org', 'example.com'] },
      { allowedDomains: ['api.example.com', 'www.Example.org'] },
    ],
    [
      'a host that only ends alike',
      { allowedDomains: ['badexample.org', 'ample.org'] },
      { allowedDomains: [] },
    ],
  ])('gives no more than its host does: %s', (_what, host, expected) => {
    expect(given(host)).toMatchObject(expected);
  });

  it.each<[string, BuiltinGrants]>([
    ['a shell', { shell: true }],
    ['registering', { meta: true }],
    ['variables', { env: ['TOKEN'] }],
    ['hosts', { allowedDomains: ['*'] }],
  ])('gives no file %s that it does not ask for', (_what, host) => {
    expect(given(host, {})).toMatchObject({
      shell: false,
      meta: false,
      env: [],
      allowedDomains: [],
    });
  });
});
