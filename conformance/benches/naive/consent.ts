/**
 * Consent as somebody would write it in an hour: the first rule that matches decides, the first
 * channel to say anything wins, and whatever is not a plain no lets the call run. Edits are taken
 * without a second look, and answers for always are kept by tool.
 */

import {
  annotate,
  type ApprovalPrompt,
  approveCall,
  clockOf,
  defineLayer,
  type JsonObject,
  matchesTool,
  promptsOf,
  refuse,
  type ToolCall,
  type ToolLayer,
  withCall,
} from '../../../src/layer.ts';
import { createSubject } from '../../scenarios/create-subject.ts';

interface Answer {
  readonly decision?: unknown;
  readonly decidedBy?: string;
  readonly reason?: string;
  readonly args?: JsonObject;
}
interface Options {
  readonly decide?: (call: ToolCall) => unknown;
  readonly rules?: readonly {
    readonly tool: string;
    readonly when?: (args: JsonObject) => unknown;
    readonly decision: string;
  }[];
  readonly default?: string;
  readonly expiresMs?: number;
  readonly remember?: boolean;
  readonly prompts?: readonly ApprovalPrompt[];
}

const NOES: readonly unknown[] = [
  false,
  null,
  undefined,
  'denied',
  'deny',
  'reject_once',
  'reject_always',
];
const ALWAYS: readonly unknown[] = ['allow_always', 'reject_always'];

// A decider answers a word or an object, and nobody looks which.
const answerOf = (said: unknown): Answer =>
  typeof said === 'object' && said !== null ? said : { decision: said };

function judgeWith({
  decide,
  rules = [],
  default: fallback = 'ask',
  remember,
  prompts = [],
}: Options): (call: ToolCall) => Promise<Answer> {
  const always = new Map<string, Answer>();

  return async (call: ToolCall): Promise<Answer> => {
    const rule = rules.find(
      ({ tool, when }) => matchesTool([tool], call.toolName) && (when?.(call.toolArgs) ?? true),
    );
    const first = answerOf(
      rule?.decision ?? (decide === undefined ? fallback : await decide(call)),
    );
    if (first.decision !== 'ask' && first.decision !== 'require_approval') return first;
    const kept = always.get(call.toolName);
    if (kept !== undefined) return kept;
    const channels = [...prompts, ...promptsOf(call)];
    if (channels.length === 0) return { decision: 'waiting' };
    // Scripted channels look at no question.
    const answer = answerOf(
      await Promise.race(channels.map(async (ask) => ask({ shown: call.toolArgs } as never))),
    );
    if (remember === true && ALWAYS.includes(answer.decision)) always.set(call.toolName, answer);
    return answer;
  };
}

function naiveConsent(given: Options | NonNullable<Options['decide']>): ToolLayer {
  const options: Options = typeof given === 'function' ? { decide: given } : given;
  const { expiresMs } = options;
  const judge = judgeWith(options);

  return defineLayer({
    name: 'consent',
    async caller(call, next) {
      const answer = await Promise.race([judge(call), late(call, expiresMs)]);
      const { decision, decidedBy = 'consent', reason, args } = answer;
      if (decision === 'expired') return refuse(call, 'consent_expired', 'nobody answered');
      if (decision === 'waiting')
        return refuse(call, 'approval_required', 'somebody has to be asked');
      const decidedAt = new Date(clockOf(call).now()).toISOString();
      const record = {
        decision: decision === 'auto' ? 'auto' : 'approved',
        decidedBy,
        decidedAt,
        ...(reason && { reason }),
      } as const;
      if (NOES.includes(decision)) {
        const refusal = refuse(call, 'consent_denied', reason ?? 'consent denied');
        return annotate(
          refusal,
          { consent: { ...record, decision: 'denied' } },
          { status: 'denied' },
        );
      }
      const result = await next(
        approveCall(args === undefined ? call : withCall(call, { toolArgs: args })),
      );
      return annotate(result, { consent: record }, { status: record.decision });
    },
  });
}

const late = (call: ToolCall, expiresMs: number | undefined): Promise<Answer> =>
  new Promise((resolve, reject) => {
    call.signal.addEventListener('abort', () => reject(new Error('the caller left')));
    if (expiresMs !== undefined)
      clockOf(call).after(expiresMs, () => resolve({ decision: 'expired' }));
  });

export default createSubject({ name: 'naive consent', factories: { consent: naiveConsent } });

/** The scenarios it must fail. */
export const fails: readonly string[] = [
  ...[
    'consent.allows-by-rule',
    'consent.allows-only-on-exactly-true',
    'consent.asks-again-where-an-edit-needs-it',
  ],
  ...['consent.asks-the-decider-where-no-rule-is', 'consent.denies-by-default-where-told'],
  ...['consent.denies-unless-exactly-false', 'consent.denies-where-a-condition-fails'],
  ...['consent.does-not-let-a-memory-beat-a-deny', 'consent.does-not-run-what-was-denied'],
  ...[
    'consent.ends-while-a-decider-thinks',
    'consent.ends-with-its-caller',
    'consent.expires',
    'consent.fails-closed',
  ],
  ...[
    'consent.fingerprints-the-whole-call',
    'consent.gates-edits-again',
    'consent.goes-by-what-a-tool-says-of-itself',
  ],
  ...[
    'consent.hears-a-person',
    'consent.hides-secrets-in-what-somebody-wrote',
    'consent.keeps-no-answer-with-an-edit',
  ],
  ...['consent.leaves-the-word-to-a-channel-that-answers', 'consent.lets-a-deny-win'],
  ...['consent.offers-always-where-it-is-kept', 'consent.refuses-a-rule-nobody-understands'],
  ...[
    'consent.refuses-an-edit-of-an-edit',
    'consent.refuses-to-decide-with-no-function',
    'consent.refuses-to-wait-no-time',
  ],
  ...[
    'consent.remembers-a-rejection',
    'consent.remembers-where-told',
    'consent.runs-edited-arguments',
  ],
  ...[
    'consent.runs-what-was-approved',
    'consent.takes-an-odd-member-for-a-no',
    'consent.takes-everything-else-for-a-no',
  ],
  ...[
    'consent.waits-where-every-channel-reaches-nobody',
    'consent.waits-where-nobody-can-be-asked',
  ],
  ...['consent.writes-plain-lines'],
];
