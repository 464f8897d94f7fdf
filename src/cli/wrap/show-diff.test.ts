import { describe, expect, it } from 'vitest';
import { showDiff } from './show-diff.ts';
import { wrapText } from './wrap-text.ts';

const diffOf = (text: string, language: 'json' | 'toml' = 'json') =>
  showDiff('f', text, wrapText(text, language, { program: ['allium'] }).text, language);

describe('the diff', () => {
  it('shows what changes with three lines around it', () => {
    const more = Array.from({ length: 20 }, (_, at) => `  "k${at}": ${at},`).join('\n');
    const text = `{\n${more}\n  "mcpServers": {\n    "a": {\n      "command": "x"\n    }\n  },\n  "z": 1\n}\n`;

    expect(diffOf(text).split('\n')).toEqual([
      '--- f',
      '+++ f',
      '@@ -21,7 +21,8 @@',
      '   "k19": 19,',
      '   "mcpServers": {',
      '     "a": {',
      '-      "command": "x"',
      '+      "command": "allium",',
      '+      "args": ["proxy", "--name", "a", "--", "x"]',
      '     }',
      '   },',
      '   "z": 1',
    ]);
  });

  it('is empty where nothing changes', () => {
    expect(showDiff('f', '{}', '{}', 'json')).toBe('');
  });

  it('has a part for each place that changes', () => {
    const gap = Array.from({ length: 20 }, (_, at) => `"k${at}": 1,`).join('\n');
    const text = `{"mcpServers": {\n"a": {"command": "x", "args": []},\n"b": {\n${gap}\n"command": "y"\n}}}`;

    expect(diffOf(text).match(/^@@/gm)).toHaveLength(2);
  });

  it('masks the values of variables and headers, on both sides', () => {
    const json =
      '{"mcpServers": {"a": {"command": "x", "env": {"K": "hunter2"}}, "b": {"url": "https://a.example", "headers": {"A": "hunter2"}}}}';
    const toml =
      '[mcp_servers.a]\ncommand = "x"\n[mcp_servers.a.env]\nK = "hunter2"\n[mcp_servers.b]\nurl = "https://a.example"\nhttp_headers = { A = "hunter2" }\n';

    for (const diff of [diffOf(json), diffOf(toml, 'toml')]) {
      expect(diff).toContain('ALLIUM_HEADER_A');
      expect(diff).not.toContain('hunter2');
    }
  });
});
