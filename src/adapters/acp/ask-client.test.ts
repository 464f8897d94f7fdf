import {
  agent,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { APPROVAL_ANSWERS, type ApprovalQuestion } from '../../approvals/question.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { consent } from '../../../middleware/index.ts';
import { defineTool, governTools } from '../../index.ts';
import { officialProblems, PAY, WAITING } from './acp.fixture.ts';
import { acpPrompt, fromAcpResponse, toAcpPermission } from './ask-client.ts';

const select = (optionId: unknown) => ({ outcome: { outcome: 'selected', optionId } });

describe('toAcpPermission', () => {
  it('says all that was to be shown', () => {
    const request: RequestPermissionRequest = toAcpPermission(WAITING, PAY);

    expect(request).toEqual({
      sessionId: 's-1',
      toolCall: {
        ...{
          toolCallId: 'c-1',
          title: 'Pay (pay)',
          name: 'pay',
          kind: 'execute',
          status: 'pending',
          rawInput: { amount: 5 },
        },
        content: [
          {
            type: 'content',
            content: { type: 'text', text: '{\n  "reason": "over the limit"\n}' },
          },
        ],
      },
      options: [
        { optionId: 'allow_once', name: 'Allow once', kind: 'allow_once' },
        { optionId: 'allow_always', name: 'Allow always', kind: 'allow_always' },
        { optionId: 'reject_once', name: 'Reject once', kind: 'reject_once' },
        { optionId: 'reject_always', name: 'Reject always', kind: 'reject_always' },
      ],
      _meta: {
        'allium/approval': {
          id: 'approval_1',
          fingerprint: 'sha256:0',
          expires_at: '2026-01-01T00:00:00.000Z',
        },
      },
    });
    expect(officialProblems('RequestPermissionRequest', request)).toEqual([]);
  });

  it('offers only what may be answered', () => {
    const { options } = toAcpPermission(
      { ...WAITING, options: ['reject_once', 'allow_once', 'constructor'] },
      PAY,
    );

    expect(options.map(({ optionId }) => optionId)).toEqual(['allow_once', 'reject_once']);
  });

  it('fits the official schema whatever is shown, and shows all of it', () => {
    const member = fc.constantFrom('args', 'reason', 'toolName', '__proto__', 'constructor', 'x');
    const shown = fc.dictionary(member, fc.jsonValue(), { noNullPrototype: true });

    fc.assert(
      fc.property(shown, fc.string({ unit: 'binary' }), (each, title) => {
        // JSON that a layer shows is of this type.
        const request = toAcpPermission(
          { ...WAITING, shown: each as never },
          { ...PAY, annotations: { title } },
        );
        expect(officialProblems('RequestPermissionRequest', request)).toEqual([]);
        expect(request.toolCall.title).not.toMatch(/[\p{C}\u2028\u2029]/u);
        const { rawInput, content = [] } = request.toolCall;
        const notes = Object.keys(each).filter((key) => key !== 'args' && key !== 'toolName');
        expect(rawInput).toEqual(each['args'] === undefined ? each : each['args']);
        for (const key of each['args'] === undefined ? [] : notes)
          expect(content[0]?.content.text).toContain(JSON.stringify(key));
      }),
    );
  });

  it('lets no text turn round, break or hide', () => {
    const shown = { args: {}, reason: 'a\u202eb\u200bc\nd\u2028e' };
    const { title, content } = toAcpPermission(
      { ...WAITING, shown },
      { ...PAY, annotations: { title: 'Pay\n\u202e' } },
    ).toolCall;

    expect(title).toBe('Pay\\u000a\\u202e (pay)');
    expect(content?.[0]?.content.text).toBe('{\n  "reason": "a\\u202eb\\u200bc\\nd\\u2028e"\n}');
  });

  it.each([
    ['a login', { ...WAITING, kind: 'auth_required' as const }, 'kind'],
    ['no answer', { ...WAITING, options: [] }, 'options'],
    ['no answer that ACP has', { ...WAITING, options: ['__proto__', 'allow'] }, 'options'],
  ])('does not ask for %s', (_name, interruption, option) => {
    const details = expect.objectContaining({ option }) as unknown;

    expect(() => toAcpPermission(interruption, PAY)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION', details }),
    );
  });
});

describe('fromAcpResponse', () => {
  const request = toAcpPermission({ ...WAITING, options: ['allow_once', 'reject_once'] }, PAY);

  it.each(APPROVAL_ANSWERS)(
    'reads %s where it was offered, and as nothing where it was not',
    (decision) => {
      const offered = decision === 'allow_once' || decision === 'reject_once';

      expect(fromAcpResponse(select(decision), request, { decidedBy: 'ada' })).toEqual(
        offered ? { decision, decidedBy: 'ada' } : null,
      );
      expect(fromAcpResponse(select(decision), toAcpPermission(WAITING, PAY))).toEqual({
        decision,
      });
    },
  );

  it.each([
    ['a turn that was cancelled', { outcome: { outcome: 'cancelled' } }],
    ['one that carries an option', { outcome: { outcome: 'cancelled', optionId: 'allow_once' } }],
    [
      'an outcome of a later version',
      { outcome: { outcome: '_approved', optionId: 'allow_once' } },
    ],
    ['an option nobody offered', select('yes')],
    ['the name of an option', select('Allow once')],
    ['another case', select('ALLOW_ONCE')],
    ['blanks', select(' allow_once')],
    ['an option of the prototype', select('constructor')],
    ['a list', select(['allow_once'])],
    ['an object', select({ toString: () => 'allow_once' })],
    ['no option', { outcome: { outcome: 'selected' } }],
    ['an outcome without its response', { outcome: 'selected', optionId: 'allow_once' }],
    ['an inherited outcome', Object.create(select('allow_once')) as unknown],
    [
      'JSON that would set a prototype',
      JSON.parse('{"__proto__":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}'),
    ],
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['text', 'allow_once'],
    ['a function', () => select('allow_once')],
    ['a proxy that fails', new Proxy({}, { ownKeys: () => { throw new Error('sk-secret'); } })], // biome-ignore format: one row
    ['something huge', { ...select('allow_once'), _meta: { x: 'x'.repeat(2_000_000) } }],
    ['something that never ends', JSON.parse(`${'{"outcome":'.repeat(5000)}1${'}'.repeat(5000)}`)],
  ])('takes %s for no answer', (_name, response) => {
    expect(fromAcpResponse(response, request)).toBeNull();
  });

  it('takes an option that was offered twice, or is of no known kind, for no answer', () => {
    const options = (['allow_once', 'reject_once'] as const).map((kind) => ({
      optionId: 'a',
      name: 'A',
      kind,
    }));

    expect(fromAcpResponse(select('a'), { options })).toBeNull();
    expect(
      fromAcpResponse(select('a'), {
        options: [{ optionId: 'a', name: 'A', kind: 'allow' as never }],
      }),
    ).toBeNull();
  });

  it('shows no getter twice', () => {
    const shown = ['reject_once', 'allow_once'];
    const response = { outcome: { outcome: 'selected', get optionId() { return shown.shift(); } } }; // biome-ignore format: one row

    expect(fromAcpResponse(response, request)).toEqual({ decision: 'reject_once' });
  });

  it('never makes an approval of anything but an option that allows', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.anything(), fc.anything().map(select), fc.record({ outcome: fc.anything() })),
        (response) => {
          fc.pre(!JSON.stringify([response]).includes('allow_'));
          expect(fromAcpResponse(response, request)).toBeNull();
        },
      ),
    );
  });
});

describe('acpPrompt', () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: { type: 'object' },
    execute: () => 'paid',
  });

  /** A governed call whose approval goes over a real connection of the official SDK, as bytes. */
  async function payThrough(
    answer: (
      params: RequestPermissionRequest,
    ) => RequestPermissionResponse | Promise<RequestPermissionResponse>,
  ) {
    const [up, down] = [
      new TransformStream<Uint8Array, Uint8Array>(),
      new TransformStream<Uint8Array, Uint8Array>(),
    ];
    const seen: RequestPermissionRequest[] = [];
    const editor = client({ name: 'editor' }).onRequest(
      methods.client.session.requestPermission,
      ({ params }) => {
        seen.push(params);
        return answer(params);
      },
    );
    const opened = editor.connect(ndJsonStream(down.writable, up.readable));
    const asking = agent({ name: 'agent' }).connect(ndJsonStream(up.writable, down.readable));
    const ask = acpPrompt(
      (request, signal) =>
        asking.client.request(methods.client.session.requestPermission, request, {
          cancellationSignal: signal,
        }),
      { decidedBy: 'ada' },
    );
    const governed = governTools({
      tools: [pay],
      layers: [consent({ default: 'ask' })],
      prompts: [ask],
    });
    const result = await governed.call(
      { name: 'pay', arguments: { amount: 5 }, id: 'c-1' },
      { turn: { sessionId: 's-1' } },
    );
    asking.close();
    opened.close();
    await governed.close();
    return { result, seen };
  }

  it('runs a call that the person behind a real client allows, and shows it to them', async () => {
    const { result, seen } = await payThrough(() => ({
      outcome: { outcome: 'selected', optionId: 'allow_once' },
    }));

    expect(result).toMatchObject({
      status: 'ok',
      executed: 'yes',
      approval: { decision: 'approved', decidedBy: 'ada' },
    });
    expect(seen).toMatchObject([
      { sessionId: 's-1', toolCall: { toolCallId: 'c-1', name: 'pay', rawInput: { amount: 5 } } },
    ]);
  });

  it.each([
    ['rejects', () => select('reject_once'), 'consent_denied'],
    ['cancels', () => ({ outcome: { outcome: 'cancelled' } }), 'approval_required'],
    ['selects what was not offered', () => select('allow_forever'), 'approval_required'],
  ])('does not run one where the client %s', async (_name, answer, status) => {
    // An option that was not offered is of the right type.
    const { result } = await payThrough(answer as () => RequestPermissionResponse);

    expect(result).toMatchObject({ status, executed: 'no' });
  });

  it('does not run one where the client fails', async () => {
    const { result } = await payThrough(() => Promise.reject(new Error('no window')));

    expect(result).toMatchObject({ ok: false, executed: 'no' });
  });

  it('hands on the signal of the question', async () => {
    const { signal } = new AbortController();
    const question = {
      ...WAITING,
      ...PAY,
      callId: 'c-1',
      annotations: {},
      turn: { iteration: 1, sessionId: 's-1' },
      signal,
    };
    const asked: AbortSignal[] = [];
    const prompt = acpPrompt(async (_request, given) => void asked.push(given));

    // The members of an interruption that a question does not have are not looked at.
    expect(await prompt(question as unknown as ApprovalQuestion)).toBeNull();
    expect(asked).toEqual([signal]);
  });
});
