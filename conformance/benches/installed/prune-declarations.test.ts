import { describe, expect, it } from 'vitest';
import { reachedFrom } from './prune-declarations.ts';

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
