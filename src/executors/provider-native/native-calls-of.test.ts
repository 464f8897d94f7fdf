import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { failureDetails, isToolOutput } from '../../tools/tool.ts';
import type { NativeCall, SkippedItem } from './native-call.ts';
import { nativeCallsOf } from './native-calls-of.ts';
import { howMany } from '../../../conformance/how-many.fixture.ts';

/** The calls of a response and what was skipped, with errors and ends nobody knows as words. */
function read(response: unknown) {
  const skipped: SkippedItem[] = [];
  const calls = nativeCallsOf(response, { onSkipped: (item) => skipped.push(item) });
  return {
    calls: calls.map(({ request, output }) => ({ ...request, output: told(output) })),
    skipped,
  };
}

const told = (output: unknown): unknown => {
  if (output instanceof Error) return failureDetails(output).executed;
  return isToolOutput(output)
    ? {
        isError: output.isError,
        text: output.content.map((block) => ('text' in block ? block.text : '')),
      }
    : output;
};

const failed = (...text: readonly string[]) => ({ isError: true, text });

describe('calls of a response of OpenAI', () => {
  const of = (...output: readonly object[]) => read({ object: 'response', output });

  it('are searches, code and images, with what is asked apart from what came of it', () => {
    const sources = [{ type: 'url', url: 'https://example.org' }];

    expect(
      of(
        {
          type: 'web_search_call',
          id: 'ws_1',
          status: 'completed',
          action: { type: 'search', query: 'onions', sources },
        },
        {
          type: 'file_search_call',
          id: 'fs_1',
          status: 'completed',
          queries: ['onions'],
          results: [{ file_id: 'f', text: 'layers' }],
        },
        {
          type: 'code_interpreter_call',
          id: 'ci_1',
          status: 'completed',
          code: '1+1',
          container_id: 'c',
          outputs: [{ type: 'logs', logs: '2' }],
        },
        {
          type: 'image_generation_call',
          id: 'ig_1',
          status: 'completed',
          revised_prompt: 'an onion',
          result: 'aGk=',
          size: null,
        },
      ),
    ).toEqual({
      calls: [
        {
          name: 'web_search',
          arguments: { type: 'search', query: 'onions' },
          id: 'ws_1',
          output: { sources },
        },
        {
          name: 'file_search',
          arguments: { queries: ['onions'] },
          id: 'fs_1',
          output: { results: [{ file_id: 'f', text: 'layers' }] },
        },
        {
          name: 'code_interpreter',
          arguments: { code: '1+1', container_id: 'c' },
          id: 'ci_1',
          output: { outputs: [{ type: 'logs', logs: '2' }] },
        },
        {
          name: 'image_generation',
          arguments: { revised_prompt: 'an onion' },
          id: 'ig_1',
          output: { result: 'aGk=' },
        },
      ],
      skipped: [],
    });
  });

  it('are those of MCP servers, named after the server, with the text of the arguments as it came', () => {
    const mcp = {
      type: 'mcp_call',
      server_label: 'gh',
      name: 'create_issue',
      arguments: '{"title":"x"}',
    };

    expect(
      of(
        { ...mcp, id: 'm1', output: 'done', error: null },
        { ...mcp, id: 'm2', status: 'failed', error: 'no such repository' },
        { ...mcp, id: 'm3', error: { type: 'http_error', code: 403, message: 'forbidden' } },
        { ...mcp, id: 'm4', status: 'calling' },
        { ...mcp, id: 'm5', status: 'failed', server_label: null },
      ).calls.map(({ name, arguments: args, output }) => [name, args, output]),
    ).toEqual([
      ['gh_create_issue', '{"title":"x"}', 'done'],
      ['gh_create_issue', '{"title":"x"}', failed('no such repository')],
      ['gh_create_issue', '{"title":"x"}', failed('forbidden')],
      ['gh_create_issue', '{"title":"x"}', 'unknown'],
      ['create_issue', '{"title":"x"}', failed('The provider reported that the tool failed.')],
    ]);
  });

  it.each(['in_progress', 'searching', 'incomplete', 'something new'])(
    'have no known end while they are %s',
    (status) => {
      expect(of({ type: 'web_search_call', id: 'w', status, action: {} }).calls).toMatchObject([
        { output: 'unknown' },
      ]);
    },
  );

  it('are commands in a container, and none that are left to the host', () => {
    const shell = {
      type: 'shell_call',
      id: 's',
      action: { commands: ['ls'] },
      status: 'completed',
    };
    const output = [{ stdout: 'a', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];

    expect(
      of(
        {
          ...shell,
          call_id: 'c1',
          environment: { type: 'container_reference', container_id: 'x' },
        },
        { type: 'shell_call_output', id: 'o', call_id: 'c1', output, status: 'completed' },
        {
          ...shell,
          call_id: 'c2',
          environment: { type: 'container_reference', container_id: 'x' },
        },
        { ...shell, call_id: 'c3', environment: { type: 'local' } },
        { ...shell, call_id: 'c4', environment: null },
      ),
    ).toEqual({
      calls: [
        { name: 'shell', arguments: { commands: ['ls'] }, id: 'c1', output: { output } },
        { name: 'shell', arguments: { commands: ['ls'] }, id: 'c2', output: 'unknown' },
      ],
      skipped: [],
    });
  });

  it('are none of those that the host runs', () => {
    const host = [
      'message',
      'reasoning',
      'function_call',
      'custom_tool_call',
      'computer_call',
      'local_shell_call',
      'apply_patch_call',
      'mcp_approval_request',
    ];

    expect(of(...host.map((type) => ({ type, id: type, call_id: type, name: type })))).toEqual({
      calls: [],
      skipped: [],
    });
  });

  it('are read although others beside them cannot be', () => {
    const { calls, skipped } = of(
      { type: 'mcp_call', id: 'm', name: 7 },
      { type: 'teleport_call', id: 't' },
      { type: 7 },
      null as unknown as object,
      { type: 'web_search_call', action: 'none', id: 'x'.repeat(300) },
    );

    expect(calls).toEqual([{ name: 'web_search', arguments: {}, output: {} }]);
    expect(skipped.map(({ path, kind }) => [path, kind])).toEqual([
      ['output[3]', 'unknown'],
      ['output[0]', 'mcp_call'],
      ['output[1]', 'teleport_call'],
      ['output[2]', 'unknown'],
    ]);
  });
});

describe('calls of a message of Anthropic', () => {
  const of = (...content: readonly object[]) =>
    read({ type: 'message', role: 'assistant', content });
  const use = (id: string, name: string, input: object = { query: 'onions' }) => ({
    type: 'server_tool_use',
    id,
    name,
    input,
  });
  const result = (id: string, tool: string, content: unknown, more = {}) => ({
    type: `${tool}_tool_result`,
    tool_use_id: id,
    content,
    ...more,
  });

  it('are uses with their results, whatever stands between them', () => {
    const pages = [
      {
        type: 'web_search_result',
        url: 'https://example.org',
        title: 'Onions',
        encrypted_content: 'x',
      },
    ];
    const run = {
      type: 'bash_code_execution_result',
      stdout: '2',
      stderr: '',
      return_code: 0,
      content: [],
    };

    expect(
      of(
        use('a', 'web_search'),
        use('b', 'bash_code_execution', { command: 'ls' }),
        { type: 'text', text: 'Let me see.' },
        result('b', 'bash_code_execution', run),
        result('a', 'web_search', pages),
        { type: 'tool_use', id: 'mine', name: 'echo', input: {} },
      ),
    ).toEqual({
      calls: [
        { name: 'web_search', arguments: { query: 'onions' }, id: 'a', output: pages },
        { name: 'bash_code_execution', arguments: { command: 'ls' }, id: 'b', output: run },
      ],
      skipped: [],
    });
  });

  it('are those of MCP servers, named after the server', () => {
    const mcp = (id: string) => ({
      type: 'mcp_tool_use',
      id,
      name: 'create_issue',
      server_name: 'gh',
      input: { title: 'x' },
    });

    expect(
      of(
        mcp('a'),
        result('a', 'mcp', [{ type: 'text', text: 'done' }], { is_error: false }),
        mcp('b'),
        result(
          'b',
          'mcp',
          [
            { type: 'text', text: 'no' },
            { type: 'text', text: 'rights' },
          ],
          { is_error: true },
        ),
        mcp('c'),
        result('c', 'mcp', 'gone', { is_error: true }),
      ).calls.map(({ name, output }) => [name, output]),
    ).toEqual([
      ['gh_create_issue', [{ type: 'text', text: 'done' }]],
      ['gh_create_issue', failed('no\nrights')],
      ['gh_create_issue', failed('gone')],
    ]);
  });

  it('are errors where the result is one', () => {
    const { calls } = of(
      use('a', 'web_search'),
      result('a', 'web_search', {
        type: 'web_search_tool_result_error',
        error_code: 'max_uses_exceeded',
      }),
      use('b', 'web_fetch'),
      result('b', 'web_fetch', {
        type: 'web_fetch_tool_error',
        error_code: 'url_not_accessible',
        error_message: 'robots',
      }),
    );

    expect(calls.map(({ output }) => output)).toEqual([
      failed('max_uses_exceeded'),
      failed('url_not_accessible: robots'),
    ]);
  });

  it('have no known end without a result, and are told by a result alone', () => {
    expect(
      of(use('a', 'web_search'), result('b', 'web_fetch', { type: 'web_fetch_result', url: 'u' }))
        .calls,
    ).toEqual([
      { name: 'web_search', arguments: { query: 'onions' }, id: 'a', output: 'unknown' },
      { name: 'web_fetch', arguments: {}, id: 'b', output: { type: 'web_fetch_result', url: 'u' } },
    ]);
  });

  it('take one result each, however often an id comes', () => {
    const { calls, skipped } = of(
      use('a', 'web_search'),
      use('a', 'web_search'),
      result('a', 'web_search', [1]),
      result('a', 'web_search', [2]),
    );

    expect(calls.map(({ output }) => output)).toEqual([[1], 'unknown']);
    expect(skipped).toMatchObject([{ path: 'content[3]', kind: 'web_search_tool_result' }]);
  });

  it('are read although others beside them cannot be', () => {
    const { calls, skipped } = of(
      { type: 'server_tool_use', id: 'a' },
      { type: 'web_search_tool_result' },
      { type: 'dream' },
      use('__proto__', 'constructor'),
    );

    expect(calls).toEqual([
      { name: 'constructor', arguments: { query: 'onions' }, id: '__proto__', output: 'unknown' },
    ]);
    expect(skipped.map(({ kind }) => kind).sort()).toEqual([
      'dream',
      'server_tool_use',
      'web_search_tool_result',
    ]);
  });
});

describe('calls of a response of Gemini', () => {
  const of = (parts: readonly object[], more = {}) =>
    read({ candidates: [{ content: { role: 'model', parts }, ...more }] });
  const code = (text: string, id?: string) => ({
    executableCode: { code: text, language: 'PYTHON', ...(id === undefined ? {} : { id }) },
  });
  const ran = (outcome: string, output?: string, id?: string) => ({
    codeExecutionResult: { outcome, output, ...(id === undefined ? {} : { id }) },
  });

  it('are code with what came of it, by id or one after the other', () => {
    expect(
      of([
        { text: 'Let me see.' },
        code('1'),
        ran('OUTCOME_OK', 'one'),
        code('2'),
        ran('OUTCOME_FAILED', 'trace'),
        code('3', 'c3'),
        code('4', 'c4'),
        ran('OUTCOME_DEADLINE_EXCEEDED', undefined, 'c4'),
        ran('OUTCOME_OK', 'three', 'c3'),
        code('5'),
        { functionCall: { name: 'mine', args: {} } },
      ]).calls.map(({ arguments: args, id, output }) => [args, id, output]),
    ).toEqual([
      [{ code: '1', language: 'PYTHON' }, undefined, { outcome: 'OUTCOME_OK', output: 'one' }],
      [{ code: '2', language: 'PYTHON' }, undefined, failed('OUTCOME_FAILED: trace')],
      [{ code: '3', language: 'PYTHON' }, 'c3', { outcome: 'OUTCOME_OK', output: 'three' }],
      [{ code: '4', language: 'PYTHON' }, 'c4', failed('OUTCOME_DEADLINE_EXCEEDED')],
      [{ code: '5', language: 'PYTHON' }, undefined, 'unknown'],
    ]);
  });

  it('are searches and pages that an answer is grounded on', () => {
    const groundingChunks = [{ web: { uri: 'https://example.org', title: 'Onions' } }];
    const urlMetadata = [
      { retrievedUrl: 'https://example.org', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
    ];
    const { calls } = of([], {
      groundingMetadata: { webSearchQueries: ['onions', 'layers'], groundingChunks },
      urlContextMetadata: { urlMetadata },
    });

    expect(calls).toEqual([
      {
        name: 'google_search',
        arguments: { webSearchQueries: ['onions', 'layers'] },
        output: { groundingChunks },
      },
      {
        name: 'url_context',
        arguments: { urls: ['https://example.org'] },
        output: { urlMetadata },
      },
    ]);
    expect(of([], { groundingMetadata: { webSearchQueries: [] } }).calls).toEqual([]);
  });

  it('are told by a result alone, and not by parts nobody knows', () => {
    const { calls, skipped } = of([ran('OUTCOME_OK', 'x'), { toolCall: { id: 't' } }]);

    expect(calls).toMatchObject([{ name: 'code_execution', arguments: {} }]);
    expect(skipped).toMatchObject([{ path: 'candidates[0].content.parts[1]', kind: 'toolCall' }]);
  });
});

describe('nativeCallsOf', () => {
  it.each([[undefined], [null], ['text'], [{}], [{ output: {} }], [{ choices: [] }]])(
    'reports %j as no response',
    (response) => {
      expect(read(response)).toEqual({
        calls: [],
        skipped: [expect.objectContaining({ path: '', kind: 'response' })],
      });
    },
  );

  it('survives what throws on every touch', () => {
    const touchy = new Proxy([], {
      get() {
        throw new Error('touched');
      },
    });

    expect(read(touchy).calls).toEqual([]);
    expect(read({ output: touchy }).calls).toEqual([]);
    expect(
      read({ content: [touchy, { type: 'server_tool_use', id: 'a', name: 'x', input: touchy }] })
        .calls,
    ).toEqual([]);
    expect(
      nativeCallsOf(
        { output: [{ type: 'new_call' }] },
        {
          onSkipped: () => {
            throw new Error('no');
          },
        },
      ),
    ).toEqual([]);
  });

  it('reads no more items than a response can have', () => {
    const { calls, skipped } = read({ output: Array(10_001).fill({ type: 'web_search_call' }) });

    expect(calls).toHaveLength(10_000);
    expect(skipped).toMatchObject([{ path: 'output' }]);
  });

  it('never throws and never makes up a call of another form, whatever it is given', () => {
    const word = fc.constantFrom(
      ...[
        'web_search_call',
        'mcp_call',
        'shell_call',
        'shell_call_output',
        'server_tool_use',
        'mcp_tool_use',
        'mcp_tool_result',
        'web_search_tool_result',
      ],
      ...['completed', 'failed', 'OUTCOME_OK', 'a', '__proto__', ''],
    );
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(
        word,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.constant(undefined),
        fc.constant(Number.NaN),
      ),
      tree: fc.oneof(
        { depthSize: 'small' },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 3 }),
        tie('item'),
      ),
      item: fc.dictionary(
        fc.constantFrom(
          ...[
            'type',
            'id',
            'name',
            'status',
            'action',
            'error',
            'output',
            'content',
            'input',
            'tool_use_id',
            'call_id',
            'environment',
            'arguments',
          ],
          ...[
            'candidates',
            'parts',
            'executableCode',
            'codeExecutionResult',
            'groundingMetadata',
            'webSearchQueries',
            'urlContextMetadata',
            '__proto__',
          ],
        ),
        tie('tree'),
      ),
    }));
    const response = fc
      .tuple(fc.constantFrom('output', 'content', 'candidates'), fc.array(tree))
      .map(([list, items]) => ({ [list]: items }));

    fc.assert(
      fc.property(response, (given) => {
        const calls: readonly NativeCall[] = nativeCallsOf(given, { onSkipped: () => {} });
        return calls.every(
          ({ request: { name, id, arguments: args } }) =>
            name !== '' && (id === undefined || id !== '') && args !== null,
        );
      }),
      { numRuns: howMany(500, 2_000) },
    );
  });

  it('warns once of each kind without a listener', () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    for (let n = 0; n < 3; n += 1)
      nativeCallsOf({ output: [{ type: 'warned_call', secret: 'hunter2' }] });
    const warnings = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();

    expect(warnings).toEqual([
      'a "warned_call" of a provider\'s response was not taken for a call: it is of a kind that is not known here',
    ]);
  });

  it('refuses an option it does not know', () => {
    expect(() => nativeCallsOf({}, { onskipped: () => {} } as object)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_OPTION' }),
    );
  });
});
