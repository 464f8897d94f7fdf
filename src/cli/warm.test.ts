import { describe, expect, it } from 'vitest';
import { allium, projectWith } from './run-command.fixture.ts';

const FILES = {
  'allium.yaml':
    'version: 1\nlayers: [{ auditLog: local }, { consent: { default: ask } }]\ntools: [{ module: ./tools.mjs }]\npolicy: { rules: [{ id: any, effect: deny }] }\n',
  'tools.mjs': `export default { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' }, execute: () => process.cwd() };`,
};

/** One line of every command that ends by itself, fine or not. */
const LINES: readonly (readonly string[])[] = [
  ['init', 'started'],
  ['explain'],
  ['explain', '--config', 'nothing.yaml'],
  ['call', 'echo', '--args', '{}'],
  ['call', 'nothing'],
  ['validate', '.'],
  ['receipts', 'verify'],
  ['receipts', 'list', '--json'],
  ['policy', 'test', 'nothing.json'],
  ['approvals', 'list', '--unheard'],
  ['approvals', 'approve', 'approval_x'],
  ['grants', 'revoke'],
  ['pins', 'show', 'unheard'],
  ['conformance', '--list'],
  ['schema', 'config'],
  ['help', 'proxy'],
  ['unheard'],
];

/** What differs from run to run, and the folder. */
const plain = (text: string, folder: string) =>
  text.replaceAll(folder, '<folder>').replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>');

describe('the command in a process that stays', () => {
  it.each(LINES.map((args) => ({ args, name: args.join(' ') })))(
    'says and answers what one of its own does: $name',
    ({ args }) => {
      const [warm, fresh] = [false, true].map((isFresh) => {
        const folder = projectWith(FILES);
        const { code, out, err } = allium(folder, args, { fresh: isFresh });
        return { code, out: plain(out, folder), err: plain(err, folder) };
      });

      expect(warm).toEqual(fresh);
      expect(`${fresh?.out}${fresh?.err}`).not.toBe('');
    },
  );
});
