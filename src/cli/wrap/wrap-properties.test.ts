import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configs,
  isPairs,
  manners,
  meaningOf,
  type Pairs,
  type Written,
  written,
} from './random-config.fixture.ts';
import { unwrapText, type WrapOptions, wrapText } from './wrap-text.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

const options: WrapOptions = {
  program: ['/opt/node', '/opt/allium.js'],
  config: '/home/ö/allium.yaml',
};
const texts = fc.tuple(configs, manners).map(([config, style]) => written(config, style));
const wrap = (text: string) => wrapText(text, 'json', options);
const undo = (text: string, ...older: readonly string[]) =>
  unwrapText(text, 'json', {}, older).text;

/** What the wrapped configuration has to mean, from what the original was made of. */
function expectedMeaning({ pairs }: Pairs, outcomes: ReadonlyMap<string, string>): unknown {
  const plain = (value: Written): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    return isPairs(value)
      ? Object.fromEntries(value.pairs.map(([key, each]) => [key, plain(each)]))
      : value;
  };
  const proxied = (name: string, server: Pairs): unknown => {
    const found = new Map(server.pairs);
    const head = ['/opt/allium.js', 'proxy', '--name', name, '--config', '/home/ö/allium.yaml'];
    const headers = found.get('headers');
    const keys =
      found.has('url') && headers !== undefined && isPairs(headers)
        ? headers.pairs.map(([key]) => key)
        : [];
    const variables = new Map(
      keys.map((key) => [key, `ALLIUM_HEADER_${key.toUpperCase().replace('-', '_')}`]),
    );
    const args = found.has('command')
      ? [...head, '--', found.get('command'), ...(plain(found.get('args') ?? []) as unknown[])]
      : [
          ...head,
          '--http',
          found.get('url'),
          ...keys.flatMap((key) => ['--header-env', `${key}=${variables.get(key) ?? ''}`]),
        ];
    const members = server.pairs.flatMap(([key, value]): (readonly [string, unknown])[] => {
      if (key === 'command')
        return [['command', '/opt/node'], ...(found.has('args') ? [] : [['args', args] as const])];
      if (key === 'args') return [['args', args]];
      if (!found.has('url')) return [[key, plain(value)]];
      if (key === 'url')
        return [
          ['command', '/opt/node'],
          ['args', args],
        ];
      if (key === 'headers' && isPairs(value))
        return [
          [
            'env',
            Object.fromEntries(
              value.pairs.map(([name_, each]) => [variables.get(name_) ?? '', plain(each)]),
            ),
          ],
        ];
      return [[key, key === 'type' ? 'stdio' : plain(value)]];
    });
    return Object.fromEntries(members);
  };
  return Object.fromEntries(
    pairs.map(([key, value]) => {
      if (!['mcpServers', 'servers'].includes(key) || !isPairs(value)) return [key, plain(value)];
      return [
        key,
        Object.fromEntries(
          value.pairs.map(([name, each]) => [
            name,
            outcomes.get(name) === 'wrapped' && isPairs(each) ? proxied(name, each) : plain(each),
          ]),
        ),
      ];
    }),
  );
}

describe('for any configuration', () => {
  it('wrapping and undoing gives the same text', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(undo(wrap(text).text, text)).toBe(text);
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('wrapping twice is wrapping once', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = wrap(text).text;

        expect(wrap(once).text).toBe(once);
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('what is wrapped means what it meant, behind the proxy', () => {
    let count = 0;
    fc.assert(
      fc.property(configs, manners, (config, style) => {
        const { text, servers } = wrap(written(config, style));
        count += servers.filter(({ outcome }) => outcome === 'wrapped').length;

        expect(JSON.stringify(meaningOf(text))).toBe(
          JSON.stringify(
            expectedMeaning(config, new Map(servers.map(({ name, outcome }) => [name, outcome]))),
          ),
        );
      }),
      { numRuns: howMany(100, 200) },
    );
    expect(count).toBeGreaterThan(100);
  });

  it('undoing without an older text still means the same', () => {
    fc.assert(
      fc.property(texts, (text) => {
        // What nothing was given for, and an empty list of it, are the same to a client.
        const bare = (value: string) =>
          JSON.stringify(meaningOf(value))
            .replaceAll(',"args":[]', '')
            .replaceAll('streamable-http', 'http');

        expect(bare(undo(wrap(text).text))).toBe(bare(text));
      }),
      { numRuns: howMany(100, 200) },
    );
  });

  it('a text that is cut off, or has a sign too many, is refused or means the same to both readers', () => {
    fc.assert(
      fc.property(
        texts,
        fc.nat(),
        fc.constantFrom('', ',', '"', '}', ']', '/*', '\\', '\u0000', "'"),
        (text, at, put) => {
          const broken =
            text.slice(0, at % (text.length + 1)) +
            put +
            (put === '' ? '' : text.slice(at % (text.length + 1)));
          const after = attempt(() => wrap(broken).text);

          if (after !== null) expect(undo(after, broken)).toBe(broken);
        },
      ),
      { numRuns: howMany(100, 200) },
    );
  });
});

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_CLIENT_CONFIG' });
    return null;
  }
}

/** What one would write first: read, change, write again. */
function reserialised(text: string): string {
  const config = meaningOf(text) as Record<
    string,
    Record<string, { command?: string; args?: string[] }>
  >;
  const after: Record<string, unknown> = {};
  for (const [name, server] of Object.entries(config.mcpServers ?? {})) {
    after[name] = {
      ...server,
      command: '/opt/node',
      args: [
        '/opt/allium.js',
        'proxy',
        '--name',
        name,
        '--',
        server.command,
        ...(server.args ?? []),
      ],
    };
  }
  return JSON.stringify({ ...config, mcpServers: after }, null, 2);
}

describe('a twin that writes the whole file again', () => {
  const text =
    '{ // mine\n  "mcpServers": {\n    "__proto__": { "command": "a", "args": [ "b" ] } } }';

  it('loses comments, which ours keeps', () => {
    expect(reserialised(text)).not.toContain('// mine');
    expect(wrap(text).text).toContain('// mine');
  });

  it('loses a server of a hostile name, which ours wraps', () => {
    expect(reserialised(text)).not.toContain('__proto__');
    expect(wrap(text).text).toContain('"__proto__": { "command": "/opt/node"');
  });

  it('cannot be undone to the letter', () => {
    const named = text.replace('__proto__', 'files');

    expect(undo(reserialised(named), named)).not.toBe(named);
    expect(undo(wrap(named).text, named)).toBe(named);
  });
});
