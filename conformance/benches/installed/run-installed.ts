/**
 * The command behind `npm run installed`: the package as users get it, packed and installed into
 * empty folders.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeThrown } from '../../../src/core/contract/errors.ts';
import {
  BESIDE,
  envOfNode24,
  installsBeside,
  RUNTIMES,
  scenariosOn,
  typesOf,
  weightOf,
} from './installed.ts';
import { run } from './run-program.ts';

const HELP = `Packs the package, installs it with npm into empty folders, and looks at what a user gets: how many packages and megabytes, whether its
types are whole, whether it installs beside the packages that people have, and how many scenarios of the suite pass on each runtime.

usage: npm run installed -- [--only weight|types|beside|runtimes]

Exits with 1 when something was found, with 2 on a wrong option. Takes several minutes and the npm registry.
`;

const MAX_PACKAGES = 30;
const MAX_MEGABYTES = 20;

const { only, help } = readOptions();
if (help === true) {
  process.stdout.write(HELP);
  process.exit(0);
}
const PARTS: readonly string[] = ['weight', 'types', 'beside', 'runtimes'];
if (only !== undefined && !PARTS.includes(only)) {
  process.stderr.write(`there is no part "${only}"; there is ${PARTS.join(', ')}\n`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({ options: { only: { type: 'string' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    process.stderr.write(
      `${describeThrown(error)}\nnpm run installed -- --help shows what there is\n`,
    );
    process.exit(2);
  }
}

const root = resolve(import.meta.dirname, '../../../../..');
const folder = mkdtempSync(join(tmpdir(), 'allium-installed-'));
const problems: string[] = [];
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const find = (line: string): void => {
  problems.push(line);
  say(line);
};

try {
  const packed = await run('npm', ['pack', '--silent', '--pack-destination', folder], root);
  if (packed.code !== 0) throw new Error(`npm pack: ${packed.errors}`);
  const tarball = join(folder, packed.output.trim().split('\n').at(-1) ?? '');
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    weight: () => weigh(tarball),
    types: () => checkTypes(tarball),
    beside: () => installBeside(tarball),
    runtimes: () => runOnEach(tarball),
  };
  for (const [name, part] of Object.entries(parts))
    if (only === undefined || only === name) await part();
  say(problems.length === 0 ? 'nothing is wrong' : `${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function weigh(tarball: string): Promise<void> {
  const { packages, megabytes } = await weightOf(tarball, folder);
  const line = `installed: ${packages} packages, ${megabytes.toFixed(1)} MB on disk`;
  if (packages > MAX_PACKAGES || megabytes > MAX_MEGABYTES)
    find(`${line}; at most ${MAX_PACKAGES} and ${MAX_MEGABYTES}`);
  else say(line);
}

async function checkTypes(tarball: string): Promise<void> {
  const mistakes = await typesOf(tarball, folder, readFileSync(join(root, 'package.json'), 'utf8'));
  if (mistakes === '') say('types: whole, without skipLibCheck');
  else find(`types:\n${mistakes}`);
}

async function installBeside(tarball: string): Promise<void> {
  const nodes = { [process.version]: process.env, v24: await envOfNode24(folder) };
  for (const name of BESIDE)
    for (const [version, env] of Object.entries(nodes)) {
      const mistake = await installsBeside(tarball, name, folder, env);
      const line = `beside ${name}, Node.js ${version}`;
      if (mistake === null) say(`${line}: installs`);
      else find(`${line}: ${mistake}`);
    }
}

/** What the README says of a runtime has to be what was seen. */
async function runOnEach(tarball: string): Promise<void> {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  for (const runtime of RUNTIMES) {
    const seen = await scenariosOn(tarball, runtime, folder);
    const row = `| ${runtime.name} | ${seen} |`;
    if (readme.includes(row)) say(row);
    else find(`${row} is not in the README`);
  }
}
