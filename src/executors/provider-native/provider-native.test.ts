import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { captainLayers } from '../../../conformance/captain.fixture.ts';
import { auditLog, redaction, telemetry } from '../../../middleware/index.ts';
import { startTracing, stopSdk } from '../../telemetry/otel/otel-sdk.fixture.ts';
import {
  defineTool,
  governTools,
  nativeCallsOf,
  providerNativeExecutor,
  type ToolEvent,
  type ToolLayer,
} from '../../index.ts';
import { localReceiptSink, queryReceipts, verifyReceipts } from '../../receipts/index.ts';

const TOKEN = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('');

const search = defineTool({
  name: 'web_search',
  description: 'Searches the web, at the provider.',
  inputSchema: { type: 'object' },
  annotations: { kind: 'search', readOnly: true },
  executor: 'provider_native',
});

const local = defineTool({
  name: 'echo',
  description: 'Answers.',
  inputSchema: { type: 'object' },
  execute: (args) => args,
});

describe('tools that the provider runs', () => {
  it.each([
    ['with the executor that is there', {}],
    ['with one that the host gave', { executor: providerNativeExecutor() }],
  ])(
    'can be declared, are not shown by the host, and are refused when called, %s',
    async (_title, options) => {
      const governed = governTools({ tools: [search, local], layers: [], ...options });
      const result = await governed.call({ name: 'web_search', arguments: {} });

      expect(governed.tools.map(({ name }) => name)).toEqual(['echo']);
      expect(governed.advertise({ turn: { turnId: 't' } }).map(({ name }) => name)).toEqual([
        'echo',
      ]);
      expect(result).toMatchObject({
        status: 'executor_error',
        executed: 'no',
        errorCategory: 'provider_native',
        errorClass: 'fatal',
      });
      expect(result.error).toContain('observe');
    },
  );

  it('are run by an executor of that kind which can, and then shown', async () => {
    const executor = { kind: 'provider_native' as const, execute: () => ({ hits: 1 }) };
    const governed = governTools({ tools: [search], layers: [], executor });

    expect(governed.tools.map(({ name }) => name)).toEqual(['web_search']);
    expect(await governed.call({ name: 'web_search', arguments: {} })).toMatchObject({
      status: 'ok',
      executed: 'yes',
    });
  });

  it('do not make other kinds run', () => {
    const remote = defineTool({
      name: 'remote',
      description: '',
      inputSchema: { type: 'object' },
      executor: 'mcp_server',
    });

    expect(() => governTools({ tools: [search, remote], layers: [] })).toThrow(
      expect.objectContaining({ code: 'ERR_NO_EXECUTOR' }),
    );
  });
});

describe('the captain stack around calls that the provider made', () => {
  const state = { folder: '' };
  beforeEach(() => {
    state.folder = mkdtempSync(join(tmpdir(), 'allium-native-'));
    vi.stubEnv('ALLIUM_STATE_DIR', state.folder);
  });
  afterEach(() => {
    stopSdk();
    vi.unstubAllEnvs();
    rmSync(state.folder, { recursive: true, force: true });
  });

  const response = {
    type: 'message',
    content: [
      { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'onions' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'srv_1',
        content: [{ type: 'web_search_result', title: `token ${TOKEN}` }],
      },
      {
        type: 'mcp_tool_use',
        id: 'mcp_1',
        server_name: 'gh',
        name: 'delete_repo',
        input: { token: TOKEN },
      },
      {
        type: 'mcp_tool_result',
        tool_use_id: 'mcp_1',
        is_error: true,
        content: [{ type: 'text', text: 'no rights' }],
      },
      { type: 'server_tool_use', id: 'srv_2', name: 'code_execution', input: { code: '1+1' } },
    ],
  };

  /** The reference recipe, with receipts on disk and spans of a real SDK. */
  const layers = (): readonly ToolLayer[] =>
    captainLayers().map((layer) => {
      if (layer.name === 'auditLog') return auditLog(localReceiptSink());
      return layer.name === 'telemetry' ? telemetry('otel') : layer;
    });

  async function observeAll() {
    const events: ToolEvent[] = [];
    const governed = governTools({ tools: [search, local], layers: layers() });
    governed.on('*', (event) => events.push(event));
    const results = [];
    for (const { request, output } of nativeCallsOf(response)) {
      results.push(
        await governed.observe(request, output, {
          turn: { sessionId: 'native', model: 'm', provider: 'anthropic' },
        }),
      );
    }
    await governed.close();
    return { results, events };
  }

  it('leaves one receipt each, which stands up to verification and quotes nothing', async () => {
    const { results, events } = await observeAll();
    const folder = join(state.folder, 'receipts');
    const receipts = [];
    for await (const receipt of queryReceipts(folder)) receipts.push(receipt);

    expect(results.map(({ status, executed }) => [status, executed])).toEqual([
      ['ok', 'yes'],
      ['executor_error', 'yes'],
      ['outcome_unknown', 'unknown'],
    ]);
    expect(await verifyReceipts(folder)).toMatchObject({ ok: true, problems: [] });
    expect(
      receipts.map(({ tool_name, status, executed, executor, blocked_by, provider }) => [
        tool_name,
        status,
        executed,
        executor,
        blocked_by,
        provider,
      ]),
    ).toEqual([
      ['web_search', 'ok', 'yes', 'provider_native', null, 'anthropic'],
      ['gh_delete_repo', 'executor_error', 'yes', 'provider_native', null, 'anthropic'],
      ['code_execution', 'outcome_unknown', 'unknown', 'provider_native', null, 'anthropic'],
    ]);
    expect(events.filter(({ type }) => type === 'tool_call_update')).toHaveLength(3);
    expect(JSON.stringify([results, receipts, events])).not.toContain(TOKEN);
  });

  it('says of every acting layer, in its place, that it came too late', async () => {
    const { results } = await observeAll();

    expect(results[0]?.audit).toMatchObject({ kind: 'search', summary: 'web_search' });
    expect(results[0]?.audit?.layers.map(({ name, status }) => [name, status])).toEqual([
      ['timeout', 'too_late'],
      ['dryRun', 'ok'],
      ['rateLimit', 'too_late'],
      ['idempotency', 'too_late'],
      ['handoffArtifact', 'too_late'],
      ['redaction', 'ok'],
      ['requiredReason', 'too_late'],
      ['consent', 'too_late'],
      ['summary', 'ok'],
      ['telemetry', 'ok'],
      ['auditLog', 'ok'],
    ]);
  });

  it('makes one span each, like that of any other call', async () => {
    const sdk = startTracing();
    await observeAll();
    const spans = sdk.spans.filter(({ name }) => name.startsWith('execute_tool '));

    expect(
      spans.map(({ name, attributes }) => [
        name,
        attributes['allium.status'],
        attributes['error.type'],
      ]),
    ).toEqual([
      ['execute_tool web_search', 'ok', undefined],
      ['execute_tool gh_delete_repo', 'executor_error', 'tool_error'],
      ['execute_tool code_execution', 'outcome_unknown', 'outcome_unknown'],
    ]);
    expect(spans[0]?.attributes).toMatchObject({
      'allium.executor': 'provider_native',
      'gen_ai.tool.type': 'extension',
      'gen_ai.tool.call.id': 'srv_1',
    });
    expect(
      JSON.stringify(spans.map(({ attributes, events }) => [attributes, events])),
    ).not.toContain(TOKEN);
  });

  it('cleans the output file of a large answer', async () => {
    const texts: string[] = [];
    const outputFiles = {
      async write({ text, mediaType }: { text: string; mediaType: string }) {
        texts.push(text);
        return { uri: 'memory:1', bytes: text.length, sha256: '', mediaType };
      },
    };
    const governed = governTools({ tools: [], layers: [redaction()], outputFiles });
    const [call] = nativeCallsOf({
      output: [
        {
          type: 'mcp_call',
          id: 'm',
          name: 'dump',
          arguments: '{}',
          output: `${TOKEN} ${'x'.repeat(9_000)}`,
        },
      ],
    });
    const result = await governed.observe(
      call?.request ?? { name: '', arguments: {} },
      call?.output,
    );

    expect(result.outputFiles).toHaveLength(1);
    expect(texts.join()).toContain('x'.repeat(9_000));
    expect(JSON.stringify([result, texts])).not.toContain(TOKEN);
  });
});
