import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../conformance/benches/fuzz/random.ts';
import type { FoundFile } from './find-files.ts';
import { fileOf } from './files.fixture.ts';
import { readArtifact } from './read-file.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const GOOD: readonly (readonly [FoundFile['role'], string])[] = [
  [
    'tool',
    fileOf(
      ...[
        'parameters:',
        '  path: &p { type: string, description: Which., required: true }',
        '  deep:',
        '    type: object',
        '    properties:',
      ],
      ...[
        '      a: { type: array, items: { type: string, pattern: "^[a-z]+$" } }',
        '  again: *p',
        'timeout_ms: 500',
        'async: false',
        'extra: pass',
      ],
      ...[
        'annotations: { kind: read, read_only: true, safety: { network: true } }',
        'grants: { workspace: data, env: [HOME] }',
      ],
      ...['script: |', '  def run(args):', '      return {"a": args["path"]}'],
    ),
  ],
  [
    'hook',
    fileOf(
      'event: tool.pre',
      'priority: 10',
      'when: payload["name"] == "x"',
      'script: |-',
      '  def handle(event, payload):',
      '      return allow()',
    ),
  ],
  [
    'bundle',
    fileOf(
      'tools:',
      '  - name: a',
      '    description: "Does\\ta."',
      '    script: "def run(args): return 1"',
      'hooks:',
      '  - { name: b, event: custom.x, script: x = 1 }',
    ),
  ],
  [
    'harness',
    fileOf(
      'model: { name: m, temperature: 0.5, max_tokens: 10 }',
      'tools_policy: { mode: denylist, deny: ["rm_*"] }',
      'tools: []',
    ),
  ],
];

const PIECES = [
  ...[
    '---',
    '\n---\n',
    '---js\n',
    '\n...\n',
    '%YAML 1.1\n',
    '&a ',
    '*a',
    '*p',
    '<<: *p\n',
    '!!binary ',
    '!js ',
    '? ',
    '|',
    '>',
    '|9',
    '- ',
    ': ',
    '[',
    '{',
    '}',
    ']',
  ],
  ...[
    '"',
    "'",
    '\\',
    '\t',
    '\r',
    '\0',
    '\uFEFF',
    '\u2028',
    '\uD800',
    '💥',
    '__proto__: ',
    'constructor: ',
    '.inf',
    '~',
    '0x10',
    '1e999',
    '-1',
    '#',
  ],
  ...['\n  x: &x [*x, *x]\n', '$ref: "#"\n', '  '.repeat(40), '\n'.repeat(5), 'a'.repeat(300)],
];

/** One to three changes: bytes flipped, stretches cut, doubled or moved, pieces put in. */
function mutated(text: string, random: ReturnType<typeof createRandom>): Buffer {
  let bytes = Buffer.from(text);
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) {
    const at = random.below(bytes.length + 1);
    const to = Math.min(bytes.length, at + random.below(40));
    const [before, part, after] = [
      bytes.subarray(0, at),
      bytes.subarray(at, to),
      bytes.subarray(to),
    ];
    const piece = Buffer.from(PIECES[random.below(PIECES.length)] ?? '');
    const forms = [
      [before, after],
      [before, part, part, after],
      [before, Buffer.from([random.below(256)]), after],
      [before, piece, part, after],
      [part, before, after],
      [before, piece, after],
    ];
    bytes = Buffer.concat(forms[random.below(forms.length)] ?? []);
  }
  return bytes;
}

const RUNS = howMany(3_000, 10_000);

describe('files that are nearly right', () => {
  it('are read or refused, each problem with a place in its file, and never crash the loader', () => {
    const random = createRandom(0x0a11);
    const counts = { read: 0, refused: 0, problems: 0 };
    for (let run = 0; run < RUNS; run += 1) {
      const [role, text] = GOOD[run % GOOD.length] ?? ['tool', ''];
      const bytes = mutated(text, random);
      const lines = bytes.toString('utf8').split('\n').length;
      const { tools, hooks, problems } = readArtifact(
        bytes,
        { path: 'some_tool.md', role },
        run % 5 === 0,
      );
      for (const { line, column, message, file } of problems) {
        const isPlaced =
          line >= 1 && line <= lines && column >= 1 && message !== '' && file === 'some_tool.md';
        if (!isPlaced || message.includes('\n'))
          throw new Error(
            `run ${run}: ${line}:${column}: ${message}\n${JSON.stringify(bytes.toString('latin1'))}`,
          );
      }
      for (const { script } of [...tools, ...hooks])
        if (script !== undefined) expect(script.firstLine).toBeLessThanOrEqual(lines);
      counts.problems += problems.length;
      counts[problems.some(({ severity }) => severity === 'error') ? 'refused' : 'read'] += 1;
    }

    expect(counts.read + counts.refused).toBe(RUNS);
    // A fuzz that only breaks files, or never does, looks at nothing.
    expect(counts.read).toBeGreaterThan(RUNS / 20);
    expect(counts.refused).toBeGreaterThan(RUNS / 4);
    console.info(`fuzzed files: ${JSON.stringify(counts)}`);
  });
});
