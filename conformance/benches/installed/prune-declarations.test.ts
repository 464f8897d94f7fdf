import { describe, expect, it } from 'vitest';
import { packagesIn, reachedFrom } from './prune-declarations.ts';

const TEXTS: Readonly<Record<string, string>> = {
  '/p/a.d.ts': `import type { B } from './in/b.ts';\nexport * from "./c.js";\nexport declare const d: import('./in/d.ts').D;`,
  '/p/in/b.d.ts': `import type { A } from '../a.ts';\nimport type { Sampler } from 'elsewhere';`,
  '/p/c.d.ts': 'export {};',
  '/p/in/d.d.ts': 'export interface D {}',
  '/p/unused.d.ts': `import './c.ts';`,
};

describe('reachedFrom', () => {
  it('follows every form of import, in circles too, and nothing but its own files', () => {
    const reached = reachedFrom(['/p/a.d.ts'], (file) => TEXTS[file] ?? '');

    expect([...reached].sort()).toEqual(['/p/a.d.ts', '/p/c.d.ts', '/p/in/b.d.ts', '/p/in/d.d.ts']);
  });
});

describe('packagesIn', () => {
  it('knows packages in every form of import, and leaves out files and Node itself', () => {
    const text = `import type { A } from '@a/b/c';\nimport type {\n  B,\n} from "d";\nimport { C } from './e.ts';
import type { D } from 'node:fs';\nexport declare const f: import('g/h').G;`;

    expect(packagesIn(text)).toEqual(['@a/b', 'd', 'g']);
  });
});
