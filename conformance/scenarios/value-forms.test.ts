/** What a scenario writes in the place of what is no data. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AlliumError, type OutputFiles } from '../../src/index.ts';
import type { PinStore } from '../../src/policy/index.ts';
import { testClock } from '../test-kit.ts';
import { builtinSubject } from './create-subject.ts';
import { scenarioForms } from './value-forms.ts';

describe('$outputs', () => {
  it('keeps what it is given under its name, and answers with a reference to it', async () => {
    const { forms, sinks } = scenarioForms(testClock(), { unused: [], unexpected: [] });
    // It is what the form is there to make.
    const store = forms.get('$outputs')?.('large', 'layers[0]') as OutputFiles;

    const file = await store.write({ sessionId: 'ada', text: 'é', mediaType: 'text/plain' });

    expect(sinks).toEqual({ large: [{ session_id: 'ada', text: 'é', media_type: 'text/plain' }] });
    expect(file).toEqual({
      uri: 'memory:4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c',
      bytes: 2,
      sha256: '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c',
      mediaType: 'text/plain',
    });
  });
});

describe('$pins', () => {
  const pinsOf = (argument: unknown) =>
    scenarioForms(testClock(), { unused: [], unexpected: [] }).forms.get('$pins')?.(
      argument,
      'layers[0]',
    ) as PinStore; // It is what the form makes.

  it('has tools pinned as the scenario would make them', () => {
    expect(pinsOf([{ name: 'a' }]).read('tools')?.pins).toMatchObject([
      {
        toolName: 'a',
        definition: { description: 'Answers as it is told to.' },
        pinnedAt: '2026-01-01T00:00:00.000Z',
      },
    ]);
    expect(pinsOf({ source: 'github', tools: [{ name: 'a' }] }).read('github')?.pins).toHaveLength(
      1,
    );
    expect(pinsOf([]).read('tools')).toBeNull();
  });

  it.each([undefined, 'a', { tools: 'a' }, { source: 1, tools: [] }, [{ name: '' }]])(
    'refuses %j',
    (argument) => {
      expect(() => pinsOf(argument)).toThrow(AlliumError);
    },
  );
});

describe('$tempFile', () => {
  const opened = () => {
    const made = scenarioForms(testClock(), { unused: [], unexpected: [] });
    const path = (argument: unknown) =>
      String(made.forms.get('$tempFile')?.(argument, 'layers[0]'));
    return { path, sinks: made.sinks, readFiles: () => made.readFiles() };
  };

  it('is a path whose lines can be looked at in the end, when it is gone', async () => {
    const { path, sinks, readFiles } = opened();
    const file = path('tape');
    writeFileSync(file, '{"a":1}\nno json\n');
    path('untouched');
    await readFiles();

    expect(sinks).toEqual({ tape: [{ a: 1 }, 'no json'], untouched: [] });
    expect(existsSync(dirname(file))).toBe(false);
  });

  it('may hold lines from the beginning, and half a one behind them', async () => {
    const { path, sinks, readFiles } = opened();
    const file = path({ name: 'tape', lines: [{ a: 1 }], rest: '{"cut' });
    const text = readFileSync(file, 'utf8');
    await readFiles();

    expect(text).toBe('{"a":1}\n{"cut');
    expect(sinks).toEqual({ tape: [{ a: 1 }, '{"cut'] });
  });

  it.each([
    ['../tape'],
    [''],
    [7],
    [null],
    [{ name: 'tape', lines: 'text' }],
    [{ name: 'tape', rest: 1 }],
  ])('refuses %j', (argument) => {
    expect(() => opened().path(argument)).toThrow('"$tempFile" must be a name');
  });

  it('leaves nothing behind where the stack cannot be put together', async () => {
    const thrown: unknown = await builtinSubject
      .open({
        layers: [{ replay: { file: { $tempFile: { name: 'tape', lines: ['no recording'] } } } }],
      })
      .catch((error: unknown) => error);
    const [file = ''] = /\S*allium-scenario-\w+/.exec(String(thrown)) ?? [];

    expect(file).not.toBe('');
    expect(existsSync(file)).toBe(false);
  });
});
