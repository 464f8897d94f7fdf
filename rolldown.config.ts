/**
 * What is built, in two parts. The package: its entries and the chunks they share, with those
 * packages in them that an entry would otherwise load file by file. And what is run from a checkout
 * and never shipped, programs and fixtures of tests: one file for each source.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, { readonly default?: string }>>;
  readonly bin: { readonly allium: string };
  readonly dependencies: object;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(resolve(folder, 'package.json'), 'utf8')) as Manifest; // npm has read it before.
const { exports: doors, bin, dependencies } = manifestIn('.');

const layers = readdirSync('middleware').filter((name) =>
  existsSync(`middleware/${name}/${name}.ts`),
);
/**
 * `dist/src/index.js` is made of `src/index.ts`. The worker of scripts is started as a file of its
 * own.
 */
const entries = [
  ...Object.values(doors).map((door) => door.default),
  bin.allium,
  './dist/src/artifacts/sandbox/worker.js',
]
  .filter((file) => file !== undefined)
  .flatMap((file) =>
    file.includes('*') ? layers.map((name) => file.replaceAll('*', name)) : [file],
  )
  .map((file) => file.slice('./dist/'.length, -'.js'.length));

const programs = ['src', 'middleware', 'conformance', 'examples']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));

/**
 * Stay outside of the chunks: the dependencies, the package where it names itself, and
 * OpenTelemetry's SDK, which the application installs.
 */
const installed = new RegExp(
  `^(?:allium|@opentelemetry|${Object.keys(dependencies).join('|')})(?:/|$)`,
);

/** The licences of the packages that are in the chunks, which ask to be passed on with them. */
const licences: Plugin = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) =>
      file.type === 'chunk' ? file.moduleIds : [],
    );
    const folders = modules.flatMap(
      (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? [],
    );
    const texts = [...new Set(folders)].sort().map((folder) => {
      const { name, version, license } = manifestIn(folder);
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(`${folder}/${file}`, 'utf8').trim()}`;
    });
    this.emitFile({
      type: 'asset',
      fileName: 'THIRD-PARTY.txt',
      source: `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`,
    });
  },
};

export default defineConfig([
  {
    input: Object.fromEntries(entries.map((entry) => [entry, `${entry}.ts`])),
    platform: 'node',
    external: installed,
    plugins: [licences],
    output: {
      dir: 'dist',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      // Comments are most of what Node need not read. Names are kept: records and stack traces show
      // them. Line breaks too: Node prints the line that an uncaught error was thrown on.
      comments: { legal: true, annotation: true, jsdoc: false },
      codeSplitting: {
        // A file costs more than what is in it: everything that `allium` loads is one. The command
        // and the worker need three modules of it.
        groups: [
          {
            name: 'ground',
            priority: 2,
            test: /src\/core\/contract\/(?:errors|closest)\.ts$|node_modules\/lru-cache\//,
          },
          { name: 'core', priority: 1, test: (id) => id === resolve('src/index.ts') },
        ],
      },
    },
  },
  {
    input: programs,
    platform: 'node',
    external: /^(?![./])/,
    output: {
      dir: 'dist/programs',
      format: 'esm',
      preserveModules: true,
      preserveModulesRoot: '.',
    },
  },
]);
