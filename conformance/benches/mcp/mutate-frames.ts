/** Lines that should be messages and are not quite, from a seed. */

import type { Random } from '../fuzz/random.ts';

/**
 * Ids that begin with this belong to the calls that must be answered: no frame made here has one.
 */
export const VALID = 'valid-';

/** The tool of calls that only some readers see. Nobody may ever be asked for it. */
export const HIDDEN = 'hidden_tool';

/** A method that the server of the runs never answers. */
export const UNANSWERED = 'bench/unanswered';

type Fields = Readonly<Record<string, unknown>>;
type Mutation = (frame: Fields, random: Random) => string | Buffer;

const frameOf = (random: Random): Fields =>
  random.pick<() => Fields>([
    () => ({
      jsonrpc: '2.0',
      id: random.below(1000),
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'x' } },
    }),
    () => ({ jsonrpc: '2.0', id: `h${random.below(1000)}`, method: 'tools/list', params: {} }),
    () => ({ jsonrpc: '2.0', id: random.below(1000), method: 'ping' }),
    () => ({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: random.below(1000), reason: 'no' },
    }),
    () => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: random.below(1000), progress: 1 },
    }),
    () => ({
      jsonrpc: '2.0',
      id: random.below(1000),
      result: { content: [{ type: 'text', text: 'x' }] },
    }),
    () => ({ jsonrpc: '2.0', id: random.below(1000), error: { code: -32_000, message: 'x' } }),
    () => ({
      jsonrpc: '2.0',
      id: random.below(1000),
      method: 'elicitation/create',
      params: { message: 'x', requestedSchema: {} },
    }),
    () => ({
      jsonrpc: '2.0',
      id: random.below(1000),
      method: 'tools/call',
      params: {
        name: 'echo',
        arguments: {},
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
      },
    }),
  ])();

const text = (frame: unknown): string => JSON.stringify(frame);
/** The frame with a piece of JSON that `JSON.stringify` would not write. */
const withRaw = (frame: Fields, name: string, raw: string): string =>
  text({ ...frame, [name]: '@raw@' }).replace('"@raw@"', raw);
const cutAt = (frame: Fields, random: Random): Buffer => {
  const bytes = Buffer.from(text(frame));
  return bytes.subarray(0, random.below(bytes.length));
};

const ODD_IDS = [
  '0',
  '-1',
  '1.5',
  '1e308',
  '1e999',
  '-0',
  '""',
  '"0"',
  '"__proto__"',
  'null',
  'true',
  '{}',
  '[1]',
  '9'.repeat(400),
];
const ODD_PARAMS = [
  'null',
  '[]',
  '"x"',
  '1',
  '{"name":null}',
  '{"name":"echo","arguments":[]}',
  '{"name":"echo","arguments":"{}"}',
  '{"name":{}}',
];
const PROTO =
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"name":"__proto__","arguments":{"__proto__":1}}';

/**
 * Lines that are a harmless message to one reader, and a call to another: one that takes the first
 * of two members, or any case.
 */
function hiddenCall(random: Random): string {
  const call = `{"name":"${HIDDEN}","arguments":{}}`;
  const head = `{"jsonrpc":"2.0","id":"h${random.below(1000)}",`;
  return random.pick([
    `${head}"method":"tools/call","params":${call},"method":"ping","params":{}}`,
    `${head}"method":"tools/call","params":${call},"meth\\u006fd":"ping","p\\u0061rams":{}}`,
    `${head}"method":"tools/call","params":${call},"params":{"name":"echo","arguments":{}}}`,
    `${head}"method":"tools/call","params":{"name":"${HIDDEN}","name":"echo","arguments":{}}}`,
    `${head}"Method":"tools/call","Params":${call},"method":"ping"}`,
    `${head}"method":"ping","METHOD":"tools/call","params":{},"PARAMS":${call}}`,
    `[${head}"method":"tools/call","params":${call}}]`,
    `${head}"method":"ping"}\r${head}"method":"tools/call","params":${call}}`,
    `${head}"method":"ping"} ${head}"method":"tools/call","params":${call}}`,
  ]);
}

/**
 * The tool of calls that are data to us, and a message to a reader that ends lines elsewhere. It
 * may be forwarded inside of others.
 */
export const SMUGGLED = 'smuggled_tool';

/** What ends a line for some reader, or is dropped by one. */
const LINE_ENDS = [
  '\r',
  '\u2028',
  '\u2029',
  '\u0085',
  '\v',
  '\f',
  '\0',
  '\x1c',
  '\x1d',
  '\x1e',
  '\ufeff',
  '\r\r',
  '\x7f',
];

/** A message of its own between line ends, where a value could stand, or inside of a text. */
function smuggled(frame: Fields, random: Random): string {
  const end = random.pick(LINE_ENDS);
  const inner = random.pick([
    `{"jsonrpc":"2.0","id":${random.below(1000)},"method":"tools/call","params":{"name":"${SMUGGLED}","arguments":{}}}`,
    `{"jsonrpc":"2.0","id":${random.below(1000)},"result":{"content":[{"type":"text","text":"${SMUGGLED}"}]}}`,
    `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
  ]);
  const place = random.pick(['params', 'result', 'error', 'data', '_meta']);
  const value = random.pick([
    `${end}${inner}${end}`,
    `{"x":${end}${inner}${end}}`,
    `[1,${end}${inner}${end},2]`,
    JSON.stringify(`${end}${inner}${end}`),
  ]);
  return random.oneIn(4) ? `${text(frame)}${end}${inner}` : withRaw(frame, place, value);
}

const ODD_NUMBERS = [
  '1.0',
  '-0',
  '0.0',
  '1e2',
  '1E400',
  '9007199254740993',
  '12345678901234567890',
  '0.1000000000000000055',
  '1e-400',
  '5e-324',
];
const OTHER_SPELLINGS = [
  'Method',
  'METHOD',
  'meth\\u006fd',
  'Params',
  'ID',
  'Id',
  '\u0131d',
  'Result',
  'Error',
  ' method',
  'method\\u200b',
  'm\u0435thod',
];
const TEXTS = [
  '\u2028',
  'a\u2029b',
  '\u0085',
  '\ufeff',
  '\x7f',
  '\\u0000',
  '\\r\\n',
  '\\u001e',
  '\u{1f600}',
  '\\ud83d\\ude00',
  '\\ud83d',
  'é',
  '\u212a',
];

/** By name, so that a run can tell how often each was tried. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'as it should be': (frame) => text(frame),
  'bits flipped'(frame, random) {
    const bytes = Buffer.from(text(frame));
    for (let left = 1 + random.below(8); left > 0; left -= 1) {
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    return bytes;
  },
  'cut off': cutAt,
  'keys twice': (frame, random) =>
    text(frame).replace(
      '{',
      `{"id":${random.below(1000)},"method":"ping","jsonrpc":"1.0","params":{"name":"other"},`,
    ),
  'a prototype': (frame, random) =>
    withRaw(frame, random.pick(['params', 'result', 'error', '_meta']), PROTO),
  'an odd id': (frame, random) => withRaw(frame, 'id', random.pick(ODD_IDS)),
  'an id again': (frame, random) => {
    const [id, list] = [random.below(3), { jsonrpc: '2.0', method: 'tools/list' }];
    return [
      { ...frame, id },
      { ...list, id },
      { ...frame, id },
    ]
      .map(text)
      .join('\n');
  },
  'huge numbers': (frame, random) =>
    withRaw(
      frame,
      'params',
      `{"name":"echo","arguments":{"text":${random.pick(['1e999', '9'.repeat(5000), '1e-999', '-1e400'])}}}`,
    ),
  'deep nesting'(frame, random) {
    const depth = random.pick([100, 5_000, 100_000]);
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    return withRaw(
      frame,
      'params',
      `{"name":"echo","arguments":{"text":${open.repeat(depth)}1${close.repeat(depth)}}}`,
    );
  },
  'half a character': (frame, random) =>
    withRaw(
      frame,
      random.pick(['id', 'method', 'x']),
      random.pick(['"\\ud800"', '"\\udc00\\ud800"']),
    ),
  'no UTF-8': (frame) =>
    Buffer.concat([
      Buffer.from(text({ ...frame, x: '' }).slice(0, -2)),
      Buffer.from([0xc3, 0x28, 0xff, 0x22, 0x7d]),
    ]),
  'another line ending': (frame, random) =>
    `${text(frame)}${random.pick(['\r', '\r\n\r', ' \t\r'])}`,
  'a byte order mark': (frame) => `\ufeff${text(frame)}`,
  'a zero': (frame, random) =>
    random.pick([
      `${text(frame)}\0`,
      `\0${text(frame)}`,
      withRaw(frame, 'method', '"a\0b"'),
      withRaw(frame, 'id', '"\\u0000"'),
    ]),
  'a batch': (frame, random) =>
    text(random.pick([[frame], [frame, frame], [], [[frame]], [1, null]])),
  'other parameters': (frame, random) => withRaw(frame, 'params', random.pick(ODD_PARAMS)),
  'no parameters': ({ params: _params, ...frame }) => text(frame),
  'no version': ({ jsonrpc: _version, ...frame }) => text(frame),
  'another version': (frame, random) =>
    withRaw(frame, 'jsonrpc', random.pick(['"1.0"', '2.0', 'null', '"2.0 "'])),
  'an odd method': (frame, random) =>
    withRaw(
      frame,
      'method',
      random.pick([
        '""',
        'null',
        '{}',
        '"constructor"',
        '"tools/call\\u0000"',
        `"${'x'.repeat(5000)}"`,
      ]),
    ),
  'no object': (_frame, random) =>
    random.pick([
      'null',
      '1',
      '"x"',
      'true',
      '',
      ' ',
      '{',
      '}',
      'undefined',
      '[[[[',
      '{"jsonrpc":"2.0"}',
    ]),
  'an answer to nobody': (_frame, random) =>
    text({ jsonrpc: '2.0', id: `nobody${random.below(99)}`, result: { tools: [], content: [] } }),
  'an answer and a question': (frame) =>
    text({ ...frame, method: 'ping', result: {}, error: { code: 1, message: '' } }),
  'a hidden call': (_frame, random) => hiddenCall(random),
  'a message within': smuggled,
  'a number in depth': (frame, random) =>
    withRaw(frame, random.pick(['params', 'result']), `{"a":[{"n":${random.pick(ODD_NUMBERS)}}]}`),
  'another spelling': (frame, random) =>
    text(frame).replace(
      /\}$/,
      `,"${random.pick(OTHER_SPELLINGS)}":${random.pick(['"tools/call"', '7', '{"name":"x"}'])}}`,
    ),
  'names twice in depth': (frame, random) =>
    withRaw(
      frame,
      random.pick(['params', 'result']),
      `{"name":"a","arguments":{"a":1,"${random.pick(['a', 'A', '\\u0061'])}":2}}`,
    ),
  'an odd text': (frame, random) =>
    withRaw(
      frame,
      random.pick(['params', 'x', 'result']),
      `{"t":"${random.pick(TEXTS)}","${random.pick(TEXTS)}":1}`,
    ),
  'a flood of progress': (_frame, random) =>
    Array.from({ length: 50 }, () =>
      text({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: `p${random.below(9)}`, progress: random.below(9) },
      }),
    ).join('\n'),
};

export interface MutatedFrame {
  readonly kind: string;
  /** With the newline at its end. */
  readonly bytes: Buffer;
}

const KINDS = Object.keys(MUTATIONS);
const LONG_LINE_BYTES = 11 * 1024 * 1024;
/** Such a line takes longer than a hundred others. */
const ONE_LONG_LINE_IN = 2000;

/** The next frame. The same seed gives the same frames. */
export function mutatedFrame(random: Random): MutatedFrame {
  if (random.oneIn(ONE_LONG_LINE_IN))
    return { kind: 'a line without an end', bytes: endedWith(Buffer.alloc(LONG_LINE_BYTES, 'a')) };
  const kind = random.pick(KINDS);
  const bytes = MUTATIONS[kind]?.(frameOf(random), random) ?? '';
  return { kind, bytes: endedWith(Buffer.from(bytes as Buffer)) }; // `from` takes both.
}

const endedWith = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.from('\n')]);
