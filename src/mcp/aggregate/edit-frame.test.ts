import { describe, expect, it } from 'vitest';
import { editFrame } from './edit-frame.ts';

describe('an edited frame', () => {
  it('has other members where it should, and every other one as it was', () => {
    const message = {
      method: 'm',
      params: { arguments: { name: 'inner', id: 1 }, name: 'outer' },
      id: 3,
    };
    const edits = [
      { path: ['params', 'name'], value: 'o' },
      { path: ['id'], value: 4 },
    ];

    expect(editFrame({ message }, edits)).toEqual({
      message: { method: 'm', params: { arguments: { name: 'inner', id: 1 }, name: 'o' }, id: 4 },
    });
    expect(message.id).toBe(3);
  });

  it('keeps the headers of its client, and not the stream of another side', () => {
    const paramHeaders = new Map([['mcp-param-a', '1']]);

    expect(editFrame({ message: { id: 1 }, paramHeaders, about: 7 }, [])).toEqual({
      message: { id: 1 },
      paramHeaders,
    });
  });

  it('takes a name of everybody for a name', () => {
    const { message } = editFrame({ message: { params: {} } }, [
      { path: ['params', '__proto__'], value: { polluted: true } },
    ]);

    expect(JSON.stringify(message)).toBe('{"params":{"__proto__":{"polluted":true}}}');
    expect({}).not.toHaveProperty('polluted');
  });
});
