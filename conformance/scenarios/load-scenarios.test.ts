import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadScenarios, parseScenario } from './load-scenarios.ts';

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'allium-scenarios-'));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const HEAD = 'id: area.one\ntitle: it is so\nrequirement: AB-1\nsource: here\n';
const SOUND = `${HEAD}steps:\n  - call: echo\n    expect: { status: ok }\n`;

describe('parseScenario', () => {
  it('reads a scenario', () => {
    expect(parseScenario(SOUND, 'a.yaml')).toMatchObject({
      id: 'area.one',
      steps: [{ call: 'echo' }],
    });
  });

  it('takes a scenario of your own without a requirement and a source, and a requirement of one letter', () => {
    const own = SOUND.replace('requirement: AB-1\nsource: here\n', '');

    expect(parseScenario(own, 'a.yaml')).not.toHaveProperty('requirement');
    expect(parseScenario(SOUND.replace('AB-1', 'B-1'), 'a.yaml').requirement).toBe('B-1');
  });

  it.each([
    [
      'a misspelt member',
      `${SOUND}expects: {}\n`,
      /^a\.yaml:8:1: the scenario has no member "expects"; did you mean "expect"\?$/,
    ],
    ['a member that is missing', 'id: area.one\n', /lacks "title"/],
    [
      'an id without an area',
      SOUND.replace('area.one', 'one'),
      /^a\.yaml:1:5: "id" must match pattern/,
    ],
    [
      'a misspelt step',
      `${HEAD}steps:\n  - cal: echo\n`,
      /^a\.yaml:6:5: "cal" is no step; did you mean "call"\?$/,
    ],
    [
      'a misspelt answer',
      `${SOUND}tools:\n  - name: echo\n    answers: { respnd: 1 }\n`,
      /^a\.yaml:10:16: "tools\.0\.answers" has no member "respnd"; did you mean "respond"\?$/,
    ],
    [
      'a misspelt member of a step',
      `${HEAD}steps:\n  - call: echo\n    arg: {}\n    expect: {}\n`,
      /^a\.yaml:7:5: "steps\.0" has no member "arg"; did you mean "args"\?$/,
    ],
    [
      'a form of expectation that is not there',
      SOUND.replace('{ status: ok }', '{ status: { $matches: ok } }'),
      /"\$matches" is no form/,
    ],
    [
      'a key that stands there twice',
      `${SOUND}title: again\n`,
      /^a\.yaml:8:1: Map keys must be unique/,
    ],
    ['broken YAML', 'id: [', /^a\.yaml:1:6: /],
    ['a tag', 'id: !!js/function "x"', /^a\.yaml:1:5: Unresolved tag/],
    ['nothing', '', /the scenario must be object/],
    [
      'no call',
      `${HEAD}steps: []\nexpect: { received: [] }\n`,
      /nothing is called: it cannot fail/,
    ],
    [
      'only a move of the clock',
      `${HEAD}steps: [{ advance: 1 }]\nexpect: { received: [] }\n`,
      /nothing is called: it cannot fail/,
    ],
    ['no expectation', `${HEAD}steps: [{ call: echo }]\n`, /nothing is expected: it cannot fail/],
    [
      'an empty expectation',
      `${HEAD}steps: [{ call: echo }]\nexpect: {}\n`,
      /nothing is expected: it cannot fail/,
    ],
  ])('refuses %s, and says where', (_name, text, message) => {
    expect(() => parseScenario(text, 'a.yaml')).toThrow(message);
    expect(() => parseScenario(text, 'a.yaml')).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_SCENARIO' }),
    );
  });

  it('takes one whose stack cannot be put together, without a call', () => {
    expect(
      parseScenario(`${HEAD}expect: { throws: { code: ERR_LAYER_ORDER } }\n`, 'a.yaml').id,
    ).toBe('area.one');
  });

  it('does not unfold aliases without end', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n`;

    expect(() => parseScenario(bomb, 'a.yaml')).toThrow(/Excessive alias count/);
  });
});

describe('loadScenarios', () => {
  it('reads all files of a folder by name, and leaves others alone', () => {
    const folder = folderWith({
      'b.yaml': SOUND.replace('area.one', 'area.two'),
      'a.yml': SOUND,
      'requirements.json': '{',
      'notes.md': '',
    });

    expect(loadScenarios(folder).map(({ scenario }) => scenario.id)).toEqual([
      'area.one',
      'area.two',
    ]);
  });

  it('says what is wrong with all of them at once', () => {
    const folder = folderWith({ 'a.yaml': `${SOUND}expects: {}\n`, 'b.yaml': 'id: [' });

    expect(() => loadScenarios(folder)).toThrow(/a\.yaml:8:1: .*\n.*b\.yaml:1:6: /);
  });

  it('refuses two scenarios with one id', () => {
    expect(() => loadScenarios(folderWith({ 'a.yaml': SOUND, 'b.yaml': SOUND }))).toThrow(
      /b\.yaml: the id "area\.one" is taken by .*a\.yaml/,
    );
  });

  it.each([
    [
      'a folder that is not there',
      () => join(tmpdir(), 'allium-no-such-folder'),
      /no such file or folder/,
    ],
    ['a folder without scenarios', () => folderWith({}), /there are no scenarios/],
  ])('refuses %s', (_name, path, message) => {
    expect(() => loadScenarios(path())).toThrow(message);
  });
});
