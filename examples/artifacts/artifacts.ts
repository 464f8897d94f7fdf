/** A tool that is one Markdown file: loaded, called, bound, and what a mistake in it looks like. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { governTools, isAlliumError } from 'allium';
import {
  createScriptPool,
  HOOK_EVENTS,
  LINT_RULES,
  loadArtifacts,
  validateArtifacts,
} from 'allium/artifacts';

const COUNT_WORDS = `---
parameters:
  path: { type: string, description: A text file of the project., required: true }
  top: { type: number, description: How many words to list., multipleOf: 1, minimum: 1, maximum: 20 }
timeout_ms: 2000
annotations: { kind: read, read_only: true, open_world: false }
grants: { workspace: notes, max_output_bytes: 65536 }
script: |
  def run(args):
      counts = {}
      for word in fs.read(args["path"]).lower().split():
          counts[word] = counts.get(word, 0) + 1
      if not counts:
          return {"error": "there are no words in this file"}
      ordered = sorted(counts.items(), key = lambda pair: (-pair[1], pair[0]))
      return [{"word": word, "count": count} for word, count in ordered[:args.get("top", 3)]]
---

Counts the words of a text file and lists the most frequent ones.
`;
const SEND_GREETING = `---
parameters:
  name: { type: string, required: true }
---

Sends a greeting. The program that loads the project says how.
`;

const folder = await mkdtemp(join(tmpdir(), 'allium-artifacts-'));
await mkdir(join(folder, '.allium/tools'), { recursive: true });
await mkdir(join(folder, 'notes'));
await writeFile(join(folder, '.allium/tools/count_words.md'), COUNT_WORDS);
await writeFile(join(folder, '.allium/tools/send_greeting.md'), SEND_GREETING);
await writeFile(join(folder, 'notes/play.txt'), 'to be or not to be');

// #region load
const pool = createScriptPool({ size: 1 });
const project = await loadArtifacts(folder, {
  pool,
  handlers: { send_greeting: ({ name }) => ['Hello', name] },
});
const governed = governTools({ tools: project.tools, layers: [] });
const counted = await governed.call({
  name: 'count_words',
  arguments: { path: 'play.txt', top: 2 },
});
const greeted = await governed.call({ name: 'send_greeting', arguments: { name: 'Ada' } });

assert.deepEqual(counted.result, [
  { word: 'be', count: 2 },
  { word: 'to', count: 2 },
]);
assert.deepEqual(greeted.result, ['Hello', 'Ada']);
assert.equal(project.context.startsWith('## count_words'), true);
// #endregion load
console.log(counted.renderedResult);

const refused = await governed.call({
  name: 'count_words',
  arguments: { path: '../../etc/passwd' },
});
assert.equal(refused.status, 'executor_error');
await project.close();
await pool.close();

// #region validate
const { problems, tools } = await validateArtifacts(folder);

assert.deepEqual(
  tools.map(({ name }) => name),
  ['count_words', 'send_greeting'],
);
assert.deepEqual(
  problems.map(({ rule, severity }) => [rule, severity]),
  [['no-handler', 'warning']],
);
// #endregion validate
assert.equal('no-handler' in LINT_RULES && HOOK_EVENTS.includes('tool.pre'), true);

// #region mistakes
await writeFile(
  join(folder, '.allium/tools/count_words.md'),
  COUNT_WORDS.replace('timeout_ms: 2000', 'timeout_ms: -1').replace('script:', 'scirpt:'),
);
const thrown: unknown = await loadArtifacts(folder).catch((error: unknown) => error);

assert.equal(isAlliumError(thrown, 'ERR_INVALID_ARTIFACT'), true);
console.log((thrown as Error).message);
// #endregion mistakes
await rm(folder, { recursive: true });
