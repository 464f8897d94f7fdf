import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCall, settle } from '../../conformance/index.ts';
import type { ApprovalPrompt, ApprovalQuestion } from '../index.ts';
import { hasPty, KEYS, openPty, type Pty } from './pty.fixture.ts';
import { terminalPrompt } from './terminal-prompt.ts';

const { turn, annotations } = makeCall();

const question = (changes: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  ...{
    id: 'approval_1',
    toolName: 'send_mail',
    callId: 'call-1',
    turn,
    annotations,
    fingerprint: 'sha256:abc',
  },
  shown: { toolName: 'send_mail', args: { to: 'ada' } },
  options: ['allow_once', 'allow_always', 'reject_once', 'reject_always'],
  signal: new AbortController().signal,
  ...changes,
});

const asked = async (prompt: ApprovalPrompt, changes?: Partial<ApprovalQuestion>) =>
  prompt(question(changes));

describe.skipIf(!hasPty)('terminalPrompt', () => {
  let pty: Pty;
  beforeEach(async () => void (pty = await openPty()));
  afterEach(() => pty.close());

  const ask = (changes?: Partial<ApprovalQuestion>, options = {}) =>
    terminalPrompt({ input: pty.input, output: pty.output, ...options })(question(changes));

  it.each([
    ['reject_once', []],
    ['reject_always', [KEYS.down]],
    ['allow_always', [KEYS.up]],
    ['allow_once', [KEYS.up, KEYS.up]],
  ])('answers %s after the keys %j and Enter', async (decision, keys) => {
    const answer = ask();
    await pty.shows('Reject always');
    pty.press(...keys, KEYS.enter);

    expect(await answer).toEqual({ decision, decidedBy: 'terminalPrompt' });
  });

  it.each([
    [{ decision: 'allow_always' }, [KEYS.up, KEYS.up]],
    [{ decision: 'allow_always', anyArguments: true }, [KEYS.up]],
    [{ decision: 'reject_always', anyArguments: true }, [KEYS.down, KEYS.down]],
  ])('answers %j where the question says what always covers', async (expected, keys) => {
    const always = {
      exact: 'mail with exactly these arguments, here',
      anyArguments: 'mail with any arguments, here',
    };
    const answer = ask({ shown: { args: { to: 'ada' }, always } });
    await pty.shows('Reject always: mail with any arguments, here');
    pty.press(...keys, KEYS.enter);

    expect(await answer).toEqual({ ...expected, decidedBy: 'terminalPrompt' });
    expect(pty.screen()).toContain('Allow always: mail with exactly these arguments, here');
  });

  it('shows tool, arguments and fingerprint before it asks', async () => {
    const answer = ask();
    await pty.shows('Reject always');
    pty.press(KEYS.enter);
    await answer;

    expect(pty.screen()).toMatch(
      /^│ {2}Tool: send_mail\r\n│ {2}Arguments:\r\n│ {2}\{\r\n│ {4}"to": "ada"\r\n│ {2}\}\r\n│ {2}Fingerprint: sha256:abc\r\n/,
    );
  });

  it('offers rejecting even where the question does not, and preselects it', async () => {
    const answer = ask({ options: ['allow_once'] });
    await pty.shows('Reject once');
    pty.press(KEYS.enter);

    expect(await answer).toMatchObject({ decision: 'reject_once' });
  });

  it.each(['ctrlC', 'ctrlD', 'escape'] as const)('takes %s for a rejection', async (key) => {
    const answer = ask();
    await pty.shows('Reject always');
    pty.press(KEYS[key]);

    expect(await answer).toMatchObject({
      decision: 'reject_once',
      reason: 'the question was left unanswered',
    });
  });

  it('takes a terminal that goes away for a rejection', async () => {
    const answer = ask();
    await pty.shows('Reject always');
    pty.input.destroy();

    expect(await answer).toMatchObject({ decision: 'reject_once' });
  });

  it('gives up when the answer is no longer wanted, and leaves the terminal as it was', async () => {
    const controller = new AbortController();
    const answer = ask({ signal: controller.signal });
    await pty.shows('Reject always');
    expect(pty.input.isRaw).toBe(true);
    controller.abort();

    expect(await answer).toBeNull();
    expect(pty.input.isRaw).toBe(false);
  });

  it('asks one question after another, also where two prompts share a terminal', async () => {
    const [one, two] = [
      terminalPrompt({ input: pty.input, output: pty.output }),
      terminalPrompt({ input: pty.input, output: pty.output }),
    ];
    const both = Promise.all([
      asked(one, { toolName: 'first' }),
      asked(two, { toolName: 'second' }),
    ]);
    await pty.shows('Reject always');
    await settle();
    expect(pty.screen()).not.toContain('Tool: second');
    pty.press(KEYS.up, KEYS.up, KEYS.enter);
    await pty.shows('Tool: second');
    await pty.shows('Reject once', 3);
    pty.press(KEYS.enter);

    expect(await both).toMatchObject([{ decision: 'allow_once' }, { decision: 'reject_once' }]);
  });

  it('never asks a question that was answered while it waited for its turn', async () => {
    const prompt = terminalPrompt({ input: pty.input, output: pty.output });
    const controller = new AbortController();
    const both = Promise.all([
      asked(prompt),
      asked(prompt, { toolName: 'second', signal: controller.signal }),
    ]);
    await pty.shows('Reject always');
    controller.abort();
    pty.press(KEYS.enter);

    expect(await both).toMatchObject([{ decision: 'reject_once' }, null]);
    // Only when the next question is on the screen is it certain that nothing came before it.
    const next = asked(prompt, { toolName: 'third' });
    await pty.shows('Tool: third');
    await pty.shows('Reject always', 2);
    pty.press(KEYS.enter);
    await next;
    expect(pty.screen()).not.toContain('Tool: second');
  });

  it('lets no character of a hostile call act on the terminal', async () => {
    const hostile =
      '\u001b[2J\u001b]0;title\u0007\u009b31m\u202eevil\u200b\r\n│  Tool: harmless\u{e0041}\ud800';
    const answer = ask({
      toolName: hostile,
      shown: { toolName: hostile, args: { [hostile]: hostile } },
      fingerprint: hostile,
    });
    await pty.shows('Reject always');
    pty.press(KEYS.enter);
    await answer;
    const [ours = ''] = pty.screen().split('\u001b[?25l');

    expect(ours.replaceAll('\r\n', '')).toMatch(/^[\P{C}]+$/u);
    expect(ours.split('\r\n').filter((line) => line.startsWith('│  Tool: '))).toHaveLength(1);
  });

  it('decidedBy names who sits there', async () => {
    const answer = ask({}, { decidedBy: 'ada' });
    await pty.shows('Reject always');
    pty.press(KEYS.enter);

    expect(await answer).toEqual({ decision: 'reject_once', decidedBy: 'ada' });
  });

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController();
    const before = pty.input.eventNames().map((name) => [name, pty.input.listenerCount(name)]);
    const answer = ask({ signal });
    await pty.shows('Reject always');
    pty.press(KEYS.enter);
    await answer;
    const after = ['end', 'close', 'keypress'].map((name) => pty.input.listenerCount(name));

    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(after).toEqual(
      ['end', 'close', 'keypress'].map(
        (name) => before.find(([known]) => known === name)?.[1] ?? 0,
      ),
    );
    expect(pty.output.listenerCount('resize')).toBe(0);
  });
});

describe('terminalPrompt without a terminal', () => {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });

  it.each([
    ['input comes from a pipe', new PassThrough(), terminal()],
    ['output goes into a pipe', terminal(), new PassThrough()],
    ['isTTY is only truthy', Object.assign(new PassThrough(), { isTTY: 'yes' }), terminal()],
  ])('is nobody to ask where %s', async (_name, input, output) => {
    input.write('\u001b[A\r');

    expect(await terminalPrompt({ input, output })(question())).toBeNull();
    expect(output.read()).toBeNull();
  });

  it.each([
    [null],
    [{ input: 'stdin' }],
    [{ decidedBy: '' }],
    [{ maxLines: 0 }],
    [{ maxTextLength: 0 }],
    [{ outptu: {} }],
  ])('refuses to be built with %j', (options) => {
    expect(() => terminalPrompt(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }) as Error,
    );
  });
});
