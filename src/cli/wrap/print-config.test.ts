import { describe, expect, it } from 'vitest';
import { CLIENTS, printConfig } from './print-config.ts';
import { unwrapText, wrapText } from './wrap-text.ts';

const options = {
  name: 'files',
  program: ['npx', '-y', 'allium'],
  config: '/work/allium.yaml',
  command: 'uvx',
  args: ['srv', 'a b'],
};
const args = [
  '-y',
  'allium',
  'proxy',
  '--name',
  'files',
  '--config',
  '/work/allium.yaml',
  '--',
  'uvx',
  'srv',
  'a b',
];

describe('a printed configuration', () => {
  it('is JSON with the key that the client looks for', () => {
    expect(JSON.parse(printConfig('claude', options).snippet)).toEqual({
      mcpServers: { files: { command: 'npx', args } },
    });
    expect(JSON.parse(printConfig('cursor', options).snippet)).toEqual({
      mcpServers: { files: { command: 'npx', args } },
    });
    expect(JSON.parse(printConfig('vscode', options).snippet)).toEqual({
      servers: { files: { type: 'stdio', command: 'npx', args } },
    });
  });

  it('is a TOML table for Codex', () => {
    expect(printConfig('codex', { ...options, name: 'my "files"' }).snippet).toBe(
      '[mcp_servers."my \\"files\\""]\ncommand = "npx"\nargs = ["-y", "allium", "proxy", "--name", "my \\"files\\"", "--config", "/work/allium.yaml", "--", "uvx", "srv", "a b"]\n',
    );
  });

  it.each(CLIENTS)(
    'for %s is one that "allium wrap" takes for wrapped, and can take apart',
    (client) => {
      const language = client === 'codex' ? 'toml' : 'json';
      const headers = [{ header: 'Authorization', variable: 'TOKEN' }];
      for (const more of [
        options,
        { name: '__proto__', program: ['allium'], http: 'https://a.example/mcp', headers },
      ]) {
        const { snippet } = printConfig(client, more);

        expect(wrapText(snippet, language, { program: ['x'] }).servers).toMatchObject([
          { name: more.name, outcome: 'already_wrapped' },
        ]);
        expect(unwrapText(snippet, language, {}, []).servers).toMatchObject([
          { name: more.name, outcome: 'taken_apart' },
        ]);
      }
    },
  );

  it('has a place for the value of a header, and none among the arguments', () => {
    const headers = [{ header: 'X-Key', variable: 'KEY' }];
    const { snippet } = printConfig('codex', {
      name: 'web',
      program: ['allium'],
      http: 'https://a.example',
      headers,
    });

    expect(snippet).toContain(
      '"--http", "https://a.example", "--header-env", "X-Key=KEY"]\nenv = { KEY = "<the value of X-Key>" }\n',
    );
  });

  it.each(CLIENTS)('for %s says where the file is on each system, in one line', (client) => {
    expect(printConfig(client, options).where).toMatch(/^(?=.*macOS)(?=.*Linux)(?=.*Windows).*$/);
  });
});
