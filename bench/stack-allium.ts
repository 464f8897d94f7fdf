/** The captain stack around a tool, as the documentation lists it. */

import { defineTool, governTools, type JsonObject, type ToolRequest } from 'allium';
import {
  auditLog,
  consent,
  dryRun,
  handoffArtifact,
  idempotency,
  rateLimit,
  redaction,
  requiredReason,
  summary,
  telemetry,
  timeout,
} from 'allium/middleware';
import {
  answerTo,
  DESCRIPTION,
  KEY,
  numbered,
  receiptFiles,
  type Rules,
  rulesFor,
  SCHEMA,
  type Side,
  TOOL,
  TURN,
} from './stack-scenario.ts';

export function alliumStack(rules: Rules = rulesFor(answerTo)): Side {
  const { maxCalls, timeoutMs, graceMs } = rules;
  const { folder, sink, remove } = receiptFiles();
  const tool = defineTool({
    name: TOOL,
    description: DESCRIPTION,
    inputSchema: SCHEMA,
    annotations: { readOnly: true, destructive: false, kind: 'search' },
    execute: (args: JsonObject, context) => rules.answer(args, context),
  });
  const governed = governTools({
    tools: [tool],
    layers: [
      auditLog({ sink, durability: 'background', key: KEY }),
      telemetry('otel'),
      summary((call, result) => `${call.toolName}: ${result.status}`),
      consent((call) => rules.decide(call.toolArgs)),
      requiredReason(),
      redaction({ detectors: ['secrets'] }),
      handoffArtifact(),
      idempotency(),
      rateLimit({ maxCalls }),
      dryRun({ only: [] }),
      timeout({ maxMs: timeoutMs, graceMs }),
    ],
  });
  // A model may send anything: what is no object or text is for the intake to refuse.
  const ask: Side['ask'] = (id, args) => {
    const request: ToolRequest = { name: TOOL, arguments: args as JsonObject, id };
    return governed.call(request, { turn: TURN });
  };
  const finish = async (): Promise<void> => {
    await governed.close();
    await sink.close();
  };
  return {
    name: 'allium',
    folder,
    publicKey: sink.publicKey,
    ask,
    call: numbered(ask),
    flush: () => sink.flush(),
    finish,
    close: async () => {
      await finish();
      await remove();
    },
  };
}
