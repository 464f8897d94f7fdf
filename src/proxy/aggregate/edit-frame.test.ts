import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/json.ts';
import { editFrame } from './edit-frame.ts';

const frameOf = (text: string) => ({ message: JSON.parse(text) as JsonObject, bytes: Buffer.from(text) });
const edited = (text: string, ...edits: Parameters<typeof editFrame>[1]) => {
  const { bytes } = editFrame(frameOf(text), edits);
  return bytes === undefined ? null : Buffer.from(bytes).toString();
};

/** What anybody would write first. */
const naive = (text: string, id: number) => JSON.stringify({ ...(JSON.parse(text) as object), id });

describe('an edited frame', () => {
  it('keeps every byte but those of the member', () => {
    const text = '{ "jsonrpc" : "2.0","id" : 7 , "result":{"10":1.0,"a":12345678901234567890,"é":"\\u00e9 \\"id\\":1"} }\n';

    expect(edited(text, { path: ['id'], value: 'x' })).toBe(text.replace('"id" : 7 ,', '"id" : "x",'));
    expect(naive(text, 7)).not.toContain('12345678901234567890');
  });

  it('finds members in depth, also behind others of the same name', () => {
    const text = '{"method":"m","params":{"arguments":{"name":"inner","id":1},"name":"outer"},"id":3}';

    expect(edited(text, { path: ['params', 'name'], value: 'o' }, { path: ['id'], value: 4 })).toBe(
      '{"method":"m","params":{"arguments":{"name":"inner","id":1},"name":"o"},"id":4}',
    );
  });

  it('reads names that are written with escapes', () => {
    expect(edited('{"\\u0069d":1}', { path: ['id'], value: 2 })).toBe('{"\\u0069d":2}');
  });

  it.each(['{"id":1,"id":2}', '{"id":1,"\\u0069d":2}', '{"params":{"name":"a"},"params":{"name":"b"}}'])(
    'writes a message anew that says one thing twice: %s',
    (text) => {
      const path = text.includes('params') ? ['params', 'name'] : ['id'];
      const { message, bytes } = editFrame(frameOf(text), [{ path, value: 9 }]);

      expect(bytes).toBeUndefined();
      expect(JSON.stringify(message)).toBe(JSON.stringify(path.length === 1 ? { id: 9 } : { params: { name: 9 } }));
    },
  );

  it('says in bytes what it says in its message, whatever else is in it', () => {
    const members = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(members, members, fc.jsonValue(), (outer, inner, value) => {
        const text = JSON.stringify({ ...outer, id: 1, params: { ...inner, name: 'n' } });
        const { message, bytes } = editFrame(frameOf(text), [
          { path: ['params', 'name'], value: value as JsonObject },
          { path: ['id'], value: 'new' },
        ]);

        expect(JSON.parse(Buffer.from(bytes ?? []).toString())).toEqual(JSON.parse(JSON.stringify(message)));
      }),
    );
  });

  it('does not recurse into what is nested without end', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;

    expect(
      editFrame({ message: { id: 1 }, bytes: Buffer.from(`{"result":${deep},"id":1}`) }, [{ path: ['id'], value: 2 }]).bytes?.length,
    ).toBe(400_000 + 18);
  });
});
