/** What a scenario writes in the place of what is no data. */

import { describe, expect, it } from 'vitest';
import type { OutputFiles } from '../../src/index.ts';
import { testClock } from '../test-kit.ts';
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
