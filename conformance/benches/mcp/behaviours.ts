/** Every behaviour of the matrix. */

import type { JsonObject } from '../../../src/core/json/json-value.ts';
import {
  ASK,
  type Behaviour,
  EDITED,
  expectEffects,
  isResult,
  ok,
  ORIGINAL,
  refused,
} from './behaviour.ts';
import type { Answer, Question } from './driver.ts';
import { SYNTHETIC_SECRET } from './dual-tools.ts';
import { cancelAsked, cancelRunning, timeout } from './leaving.ts';

/**
 * The module that decides where arguments are edited: a form of elicitation has no field for them.
 */
export const DECIDE_MODULE = `const edit = (value) => JSON.parse(JSON.stringify(value).replaceAll('${ORIGINAL}', '${EDITED}'));
export const decide = ({ toolArgs }) => ({ decision: 'approved', decidedBy: 'bench', args: edit(toolArgs) });
`;

/** The answer, after a look at the form. */
const answered = (answer: Answer, problems: string[]) => (question: Question) => {
  const { properties, required } = question.requestedSchema as {
    readonly properties?: object;
    readonly required?: unknown;
  };
  if (
    JSON.stringify([Object.keys(properties ?? {}), required]) !==
    '[["decision","reason"],["decision"]]'
  )
    problems.push('another form');
  problems.push('asked');
  return answer;
};

/** A call about which somebody is asked. */
const asking = (name: string, answer: Answer, isAllowed: boolean): Behaviour => ({
  name,
  layers: ASK,
  open(peer, plan) {
    const call = plan.effect(peer, ORIGINAL);
    const heard: string[] = [];
    return {
      onElicit: answered(answer, heard),
      receipts: [isAllowed ? ok(call) : refused(call, 'consent_denied')],
      async run(connection, find) {
        isResult(await connection.call(call.tool, call.args), !isAllowed, find);
        expectEffects(peer, plan, isAllowed ? [ORIGINAL] : [], find);
        if (heard.join() !== 'asked')
          find('question', heard.length === 0 ? 'was not put' : heard.join());
      },
    };
  },
});

const edit: Behaviour = {
  name: 'edit',
  layers: ['- consent: { decide: { $module: ./decide.mjs#decide } }'],
  open(peer, plan) {
    const call = plan.effect(peer, ORIGINAL);
    return {
      receipts: [ok(call)],
      async run(connection, find) {
        const outcome = await connection.call(call.tool, call.args);
        if (isResult(outcome, false, find) && outcome.whole.includes(ORIGINAL))
          find('result', 'speaks of the arguments before the edit');
        expectEffects(peer, plan, [EDITED], find);
      },
    };
  },
};

const dryRun: Behaviour = {
  name: 'dry run',
  layers: ['- dryRun'],
  open(peer, plan) {
    const call = plan.effect(peer, ORIGINAL);
    return {
      receipts: [refused(call, 'dry_run')],
      async run(connection, find) {
        const tools = await connection.listTools();
        // A strict client throws a preview away that is no error and does not fit what the tool has
        // promised.
        const promises = tools.find(({ name }) => name === call.tool)?.hasOutputSchema === true;
        const outcome = await connection.call(call.tool, call.args);
        if (isResult(outcome, promises, find) && !outcome.text.includes('dry run'))
          find('result', 'does not say that it is a preview');
        expectEffects(peer, plan, [], find);
      },
    };
  },
};

const redaction: Behaviour = {
  name: 'redaction',
  layers: ['- redaction: { detectors: [secrets] }'],
  open(peer, plan) {
    const call = plan.secret(peer);
    return {
      receipts: [ok(call)],
      async run(connection, find) {
        await connection.listTools();
        const outcome = await connection.call(call.tool, call.args);
        if (isResult(outcome, false, find) && outcome.whole.includes(SYNTHETIC_SECRET))
          find('result', 'holds the secret');
      },
    };
  },
};

const missingReason: Behaviour = {
  name: 'missing reason',
  layers: ['- requiredReason'],
  open(peer, plan) {
    const call = plan.effect(peer, ORIGINAL);
    return {
      receipts: [refused(call, 'schema_violation'), ok(call)],
      async run(connection, find) {
        const tool = (await connection.listTools()).find(({ name }) => name === call.tool);
        if (!requiredOf(tool?.inputSchema ?? {}).includes('reason'))
          find('result', 'the list does not ask for a reason');
        isResult(await connection.call(call.tool, call.args), true, find);
        expectEffects(peer, plan, [], find);
        isResult(
          await connection.call(call.tool, { ...call.args, reason: 'to see it work' }),
          false,
          find,
        );
        expectEffects(peer, plan, [ORIGINAL], find);
      },
    };
  },
};

const requiredOf = ({ required }: JsonObject): readonly unknown[] =>
  Array.isArray(required) ? required : [];

/** A tool that has a reason of its own keeps it. */
const ownReason: Behaviour = {
  name: 'own reason',
  layers: ['- requiredReason'],
  only: ['dual'],
  open: () => ({
    receipts: [ok({ tool: 'own_reason', args: {} })],
    async run(connection, find) {
      const tool = (await connection.listTools()).find(({ name }) => name === 'own_reason');
      if (requiredOf(tool?.inputSchema ?? {}).join() !== 'reason')
        find('result', 'the list asks for the reason twice, or not at all');
      const outcome = await connection.call('own_reason', { reason: 'rain' });
      if (isResult(outcome, false, find) && outcome.text !== 'because rain')
        find('result', 'the server did not get its reason');
    },
  }),
};

/**
 * Two questions, one after the other: whether the server may be called, and then the server's own.
 */
const serverAsks: Behaviour = {
  name: 'server asks',
  layers: ASK,
  only: ['dual'],
  open() {
    const asked: string[] = [];
    return {
      receipts: [ok({ tool: 'ask', args: {} })],
      onElicit({ requestedSchema }) {
        const [field = ''] = Object.keys((requestedSchema.properties ?? {}) as object);
        asked.push(field);
        return {
          action: 'accept',
          content: field === 'decision' ? { decision: 'allow_once' } : { colour: 'red' },
        };
      },
      async run(connection, find) {
        const outcome = await connection.call('ask', {});
        if (isResult(outcome, false, find) && outcome.text !== 'you like red')
          find('result', 'the server did not get its answer');
        if (asked.join() !== 'decision,colour') find('question', asked.join());
      },
    };
  },
};

const accept = (decision: string): Answer => ({ action: 'accept', content: { decision } });

export const BEHAVIOURS: readonly Behaviour[] = [
  asking('allow', accept('allow_once'), true),
  asking('deny', accept('reject_once'), false),
  asking('decline', { action: 'decline' }, false),
  edit,
  cancelAsked,
  cancelRunning,
  timeout,
  dryRun,
  redaction,
  missingReason,
  ownReason,
  serverAsks,
];
