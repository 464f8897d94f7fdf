import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { type Fence, fencesOf, linksOf, savedAs, sectionOf } from './check-docs.ts';

const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const SERVER = '@modelcontextprotocol/server-filesystem';

/** Where the client of that user is started: not where `allium.yaml` is. */
const ELSEWHERE = 'elsewhere';

/**
 * An empty folder of a user who has run `npm install allium`. The MCP server is installed there
 * too: `npx -y` downloads nothing.
 */
function newUser(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'allium-readme-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(join(modules, dirname(SERVER)));
  mkdirSync(join(folder, ELSEWHERE));
  symlinkSync(root, join(modules, 'allium'));
  symlinkSync(join(root, 'node_modules', SERVER), join(modules, SERVER));
  symlinkSync(
    join(root, 'node_modules/.bin/mcp-server-filesystem'),
    join(modules, '.bin/mcp-server-filesystem'),
  );
  // npm makes the command executable when it installs the package; a build does not.
  writeFileSync(
    join(modules, '.bin/allium'),
    `#!/bin/sh\nexec node "${join(root, manifest.bin.allium)}" "$@"\n`,
  );
  chmodSync(join(modules, '.bin/allium'), 0o755);
  return folder;
}

/**
 * As on a terminal of that user, without the settings of the test run. A download would be an
 * error.
 */
const env: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(ALLIUM|npm)_/.test(name) ? [] : [[name, value]],
    ),
  ),
  npm_config_offline: 'true',
};

function runLines(lines: string, folder: string): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', lines], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

interface Done {
  /** What the commands printed, in their order. */
  readonly printed: readonly string[];
  /** What the page says they print. */
  readonly shown: readonly string[];
}

/**
 * Does what a section says: saves what is to be saved, runs the commands, keeps what they print.
 */
function follow(page: string, heading: string, folder: string): Done {
  const section = sectionOf(page, heading);
  const fences = fencesOf(section);
  expect(fences.map(({ language }) => language)).toContain('sh');
  const save = (fence: Fence): void => {
    const file = join(
      folder,
      savedAs(section, fence) ??
        raise(`line ${fence.line} under "${heading}": it is not said what to save it as`),
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${fence.code}\n`);
  };
  const printed: string[] = [];
  for (const fence of fences) {
    if (fence.language === 'sh') printed.push(runLines(fence.code, folder));
    else if (fence.language !== 'text') save(fence);
  }
  return {
    printed,
    shown: fences.filter(({ language }) => language === 'text').map(({ code }) => `${code}\n`),
  };
}

function raise(message: string): never {
  throw new Error(message);
}

/** A client that starts what the page made the command print, from another folder. */
async function clientOf(config: string, folder: string): Promise<Client> {
  const { mcpServers } = JSON.parse(config) as {
    mcpServers: Record<string, { command: string; args: string[] }>;
  };
  const [server = raise('no server was printed')] = Object.values(mcpServers);
  const client = new Client({ name: 'readme', version: '1.0.0' });
  await client.connect(
    new StdioClientTransport({ ...server, env, cwd: join(folder, ELSEWHERE), stderr: 'ignore' }),
  );
  onTestFinished(() => client.close());
  return client;
}

/** Arguments that every writing tool of the server would take. */
const argumentsIn = (notes: string): Record<string, unknown> => ({
  path: join(notes, 'list.txt'),
  content: 'gone',
  edits: [{ oldText: 'milk', newText: 'gone' }],
  source: join(notes, 'list.txt'),
  destination: join(notes, 'moved.txt'),
});

/** What became of every tool that does not say that it only reads. */
async function triedWrites(client: Client, notes: string): Promise<readonly string[]> {
  const { tools } = await client.listTools();
  const writers = tools.filter(({ annotations }) => annotations?.readOnlyHint !== true);
  const tried = writers.map(async ({ name, inputSchema }) => {
    const given = Object.entries(argumentsIn(notes)).filter(([key]) =>
      Object.hasOwn(inputSchema.properties ?? {}, key),
    );
    const made =
      name === 'create_directory' ? { path: join(notes, 'made') } : Object.fromEntries(given);
    const { _meta: meta } = await client.callTool({ name, arguments: made });
    return `${name}: ${String(meta?.['allium/status'])}, executed: ${String(meta?.['allium/executed'])}`;
  });
  return (await Promise.all(tried)).sort();
}

describe('the README', () => {
  it('fits on two pages, and says how to install', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(151);
    expect(fencesOf(readme)[0]?.code).toBe(`npm install ${manifest.name}`);
  });

  it('names the command that checks everything', () => {
    expect(fencesOf(sectionOf(readme, 'Work on allium'))[0]?.code).toMatch(
      /^npm ci && npm test\b/m,
    );
  });

  it('links to the page of every layer', () => {
    const pages = readdirSync(join(root, 'docs/middleware')).map(
      (name) => `docs/middleware/${name}`,
    );

    expect(pages.filter((page) => !linksOf(readme).includes(page))).toEqual([]);
  });

  it('Start with the library: prints what it says, and leaves the receipt it speaks of', () => {
    const folder = newUser();
    const { printed, shown } = follow(readme, 'Start with the library', folder);

    expect(shown).toHaveLength(1);
    expect(printed).toEqual(shown);
    expect(sectionOf(readme, 'Start with the library')).toContain('`npx allium receipts list`');
    expect(runLines('npx allium receipts list', folder)).toMatch(/refund +consent_denied +no/);
  });

  it.runIf(process.platform === 'linux')(
    'Start with a tool file: prints what it says, also after the other starts in the same folder',
    () => {
      const folder = newUser();
      follow(readme, 'Start with the library', folder);
      follow(readme, 'Start with the proxy', folder);
      const { printed, shown } = follow(readme, 'Start with a tool file', folder);

      expect(shown).toHaveLength(1);
      expect(printed).toEqual(shown);
    },
  );

  it('Start with the proxy: reads pass, no write does, and the receipts say so', async () => {
    const folder = newUser();
    const notes = join(folder, 'notes');
    const { printed } = follow(readme, 'Start with the proxy', folder);
    writeFileSync(join(notes, 'list.txt'), 'milk, eggs');
    const client = await clientOf(printed.join(''), folder);
    const read = await client.callTool({
      name: 'read_text_file',
      arguments: { path: join(notes, 'list.txt') },
    });

    expect(read.content).toEqual([{ type: 'text', text: 'milk, eggs' }]);
    expect(await triedWrites(client, notes)).toEqual(
      ['create_directory', 'edit_file', 'move_file', 'write_file'].map(
        (name) => `${name}: consent_denied, executed: no`,
      ),
    );
    expect(readdirSync(notes)).toEqual(['list.txt']);
    expect(readFileSync(join(notes, 'list.txt'), 'utf8')).toBe('milk, eggs');
    await client.close();
    expect(runLines('npx allium receipts list', folder).match(/consent_denied +no/g)).toHaveLength(
      4,
    );

    // The naive twin: a list of what is forbidden, in the place of the README's list of what is
    // allowed.
    const naive = "rules: [{ tool: 'write_*', decision: deny }], default: allow";
    writeFileSync(join(folder, 'allium.yaml'), `version: 1\nlayers: [consent: { ${naive} }]\n`);
    expect(await triedWrites(await clientOf(printed.join(''), folder), notes)).toContain(
      'edit_file: undefined, executed: undefined',
    );
    expect(readdirSync(notes)).toContain('made');
  });
});

describe('the check of the README', () => {
  it('finds output that is not printed, and code that is not said to be saved', () => {
    const section = (before: string) =>
      `## Try\n\n${before}\n\n\`\`\`js\nconsole.log(1);\n\`\`\`\n\n\`\`\`sh\nnode a.mjs\n\`\`\`\n\n\`\`\`text\n2\n\`\`\`\n`;

    expect(follow(section('Save as `a.mjs`:'), 'Try', newUser())).toEqual({
      printed: ['1\n'],
      shown: ['2\n'],
    });
    expect(() => follow(section('A program:'), 'Try', newUser())).toThrow(
      'not said what to save it as',
    );
  });
});

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

describe('the package', () => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const [packed] = JSON.parse(stdout) as readonly Packed[];
  const files = packed?.files.map(({ path }) => path) ?? [];
  const pages = files.filter((path) => path.endsWith('.md'));

  it('has the pages', () => {
    expect(pages).toEqual(
      expect.arrayContaining([
        'README.md',
        'docs/getting-started.md',
        'docs/middleware/consent.md',
      ]),
    );
    expect(files.filter((path) => /^(docs|examples)\/.*\.test\.ts$/.test(path))).toEqual([]);
  });

  it.each(pages)('has what %s links to', (page) => {
    const targets = linksOf(readFileSync(join(root, page), 'utf8')).flatMap((link) => {
      const [path = ''] = link.split('#');
      return path === '' ? [] : [join(dirname(page), path)];
    });

    expect(
      targets.filter(
        (target) => !files.some((file) => file === target || file.startsWith(`${target}/`)),
      ),
    ).toEqual([]);
  });
});
