/** A channel is checked when a bridge is made: a stream that is none would only fail with the first message. */

import { checkOptions, expected } from '../../core/options.ts';

const stream = (method: string) =>
  expected.required({
    text: 'a stream',
    test: (value: unknown) =>
      typeof value === 'object' && value !== null && method in value && 'destroy' in value,
  });

const EXPECTED = { readable: stream('read'), writable: stream('write') } as const;

export const checkChannel = (owner: string, channel: unknown): void =>
  checkOptions(owner, channel, EXPECTED);
