import { mkdirSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  connectHttp,
  connectStdio,
  eras,
  type McpSession,
  makeDirectory,
  startServer,
  type ToolAnswer,
} from '../support/harness.ts';

/** Clients cut answers at 10 to 50 kB. */
const maxBytes = 40_000;
/** opencode shows the first 2000 lines, and nothing of the end. */
const maxLines = 2000;

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const directory = makeDirectory({ 'a.txt': 'one\ntwo\n', empty: '', 'pixel.png': Buffer.from(pixel, 'base64') });
mkdirSync(directory.at('void'));
let server: Awaited<ReturnType<typeof startServer>>;
const sessions = new Map<string, McpSession>();
const lanes = eras.flatMap((era) => [`stdio, ${era}`, `HTTP, ${era}`]);

beforeAll(async () => {
  server = await startServer(['--workspace', directory.path, '--tools', 'all']);
  for (const era of eras) {
    sessions.set(`stdio, ${era}`, await connectStdio(['--workspace', directory.path, '--tools', 'all'], { era }));
    sessions.set(`HTTP, ${era}`, await connectHttp(server, { era }));
  }
});

afterAll(async () => {
  for (const session of sessions.values()) await session[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

function sessionOf(lane: string): McpSession {
  const session = sessions.get(lane);
  if (!session) throw new Error(`no session for ${lane}`);
  return session;
}

const call = (name: string, args = {}) => sessionOf('stdio, 2025').call(name, args);

interface LongCall {
  readonly go: string;
  readonly told: readonly { readonly progress: number; readonly message?: string | undefined }[];
  readonly answer: Promise<ToolAnswer>;
}

/** Calls that wait until their progress was reported twice. Their tests wait for all lanes at once. */
const longCalls = new Map<string, LongCall>();
beforeAll(() => {
  for (const lane of lanes) longCalls.set(lane, startLongCall(lane));
});

function startLongCall(lane: string): LongCall {
  const go = `go-${lane.replaceAll(/\W/g, '')}`;
  const command = `echo waiting for ${go}; until [ -e ${go} ]; do sleep 0.1; done; echo went`;
  const reported: { progress: number; message?: string | undefined }[] = [];
  const onprogress = (progress: (typeof reported)[number]) => {
    reported.push(progress);
    if (reported.length === 2) writeFileSync(directory.at(go), '');
  };
  return { go, told: reported, answer: sessionOf(lane).call('bash', { command, timeout: 60 }, { onprogress }) };
}

describe.each(lanes)('over %s', (lane) => {
  test('an error has all of its message in the text, and no structure that a client could check against a schema', async () => {
    const { raw } = await sessionOf(lane).call('read', { file_path: 'absent' });
    expect(raw).not.toHaveProperty('structuredContent');
    expect(raw).toMatchObject({
      isError: true,
      content: [
        {
          type: 'text',
          text: expect.stringMatching(/^no such file.*absent\nNext: List the parent.*\nCode: E_FILE_NOT_FOUND$/),
        },
      ],
      _meta: { 'croft/error': { code: 'E_FILE_NOT_FOUND', kind: 'file_not_found', details: { path: 'absent' } } },
    });
  });

  test('an image is sent as an image, without parts that some clients would show instead', async () => {
    const { raw } = await sessionOf(lane).call('read', { file_path: 'pixel.png' });
    expect(raw.content).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: 'image/png', data: pixel }]);
    expect(raw).not.toHaveProperty('structuredContent');
  });

  test('a long call reports its activity every few seconds, and is answered then', async () => {
    const { go, told: reported, answer } = longCalls.get(lane)!;
    const { text } = await answer;
    expect(text).toBe(`waiting for ${go}\nwent\n`);
    expect(reported.length).toBeGreaterThanOrEqual(2);
    expect(reported[0]?.message).toMatch(/^bash has been running for \d+ s: .*waiting for/);
    expect(reported[1]?.progress).toBeGreaterThan(reported[0]?.progress ?? 0);
  });
});

test.each([
  ['bash', { command: 'true' }, 'The command printed nothing and ended with exit 0.'],
  ['run_command', { cmd: 'true' }, 'The command printed nothing and ended with exit 0.'],
  ['grep', { pattern: 'nowhere', path: 'a.txt' }, 'No match for "nowhere" in a.txt.'],
  ['glob', { pattern: '*.none' }, 'No file matches "*.none"'],
  ['list', { path: 'void' }, 'void is empty.'],
  ['read', { file_path: 'empty' }, 'empty is an empty file'],
  ['secrets_available', {}, 'No secrets are available'],
])('%s with %j says in a sentence that it found nothing', async (name, args, sentence) => {
  const { isError, text, structured } = await call(name, args);
  expect(isError, text).toBe(false);
  expect(text).toContain(sentence);
  // Claude Code and Codex show only this.
  expect(structured.notices).toEqual([expect.stringContaining(sentence)]);
});

/** Follows the cursors until there is none left. */
async function readOn(cursor: string): Promise<string> {
  let [whole, next]: [string, string | undefined] = ['', cursor];
  while (next !== undefined) {
    const page: ToolAnswer = await call('next_page', { cursor: next });
    expect(page.isError, page.text).toBe(false);
    expectSmall(page);
    expect(page.text.startsWith(page.structured.content)).toBe(true);
    whole += page.structured.content;
    next = page.structured.nextCursor;
  }
  return whole;
}

function expectSmall({ text, raw: { content, structuredContent } }: ToolAnswer): void {
  expect(text.split('\n').length).toBeLessThanOrEqual(maxLines);
  expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThan(maxBytes);
  expect(Buffer.byteLength(JSON.stringify(structuredContent) ?? '')).toBeLessThan(maxBytes);
}

describe('a long answer', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => `row ${index} "quoted"\t\\ é 😀`);

  beforeAll(() => {
    writeFileSync(directory.at('rows.log'), rows(4000).join('\n'));
    writeFileSync(directory.at('short.log'), '\n'.repeat(2500));
    writeFileSync(directory.at('long.log'), 'x\n'.repeat(9_000_000));
    for (let index = 0; index < 300; index++) {
      mkdirSync(directory.at(`packages/number-${index}`), { recursive: true });
      const more = Array.from({ length: 6 }, (_, at) => [`a-script-of-number-${index}-${at}`, 'true']);
      const scripts = { test: 'vitest', ...Object.fromEntries(more) };
      writeFileSync(directory.at(`packages/number-${index}/package.json`), JSON.stringify({ scripts }));
      writeFileSync(directory.at(`packages/a-file-with-quite-a-long-name-${'x'.repeat(80)}-${index}`), '');
    }
  });

  test.each([
    ['bash', { command: 'cat rows.log; echo the end; exit 3' }],
    ['run_command', { cmd: 'cat', args: ['rows.log'] }],
    ['grep', { pattern: 'row', head_limit: 10_000 }],
    ['glob', { pattern: '**/*', limit: 10_000 }],
    ['list', { path: 'packages', limit: 10_000 }],
    ['workspaces', {}],
    ['read', { file_path: 'rows.log', limit: 50_000 }],
    ['bash', { command: 'seq 20000; exit 3' }],
    ['bash', { command: 'seq 2500' }],
    ['read', { file_path: 'short.log', limit: 50_000 }],
    ['read', { file_path: 'long.log', limit: 50_000 }],
  ])('of %s with %j is small in both channels and says how to see the rest', async (name, args) => {
    const answer = await call(name, args);
    expect(answer.isError, answer.text).toBe(false);
    expectSmall(answer);
    expect(answer.text).toMatch(name === 'read' ? /read on with offset: \d+\)\n$/ : /next_page with cursor "/);
    expect(answer.structured).toMatchObject(
      name === 'read' ? { nextOffset: expect.any(Number) } : { nextCursor: expect.any(String) },
    );
  });

  test('has its beginning, its end and, by its cursor, everything between', async () => {
    const { text, structured } = await call('bash', { command: 'head -c 90000 rows.log; echo; exit 3' });
    const [, head = '', cursor = '', tail = ''] =
      /^(.*\n)… \(\d+ characters are left out here; call next_page with cursor "(.*)" to see them\)\n(.*)$/s.exec(
        text,
      ) ?? [];
    expect(tail).toMatch(/exit: 3\n$/);
    const whole = await readOn(structured.nextCursor);
    expect(head + (await readOn(cursor)) + tail).toBe(whole);
    const printed = Buffer.from(rows(4000).join('\n')).subarray(0, 90_000).toString();
    expect(whole.slice(0, printed.length - 1)).toBe(printed.slice(0, -1));
    expect(structured).toMatchObject({ exitCode: 3, truncated: true });
    expect(structured.output.startsWith('row 0 ')).toBe(true);
  });

  test('has its end and everything between, also if its lines are many and short', async () => {
    const { text, structured } = await call('bash', { command: 'seq 10000; exit 3' });
    expect(text).toMatch(/^1\n2\n.*\n10000\nexit: 3\n$/s);
    const numbers = Array.from({ length: 10_000 }, (_, index) => `${index + 1}\n`);
    expect(await readOn(structured.nextCursor)).toBe(`${numbers.join('')}exit: 3\n`);
  });

  test('cannot be continued from another session', async () => {
    const { structured } = await call('bash', { command: 'cat rows.log' });
    const other = await sessionOf('stdio, 2026').call('next_page', { cursor: structured.nextCursor });
    expect(other.structured.error.code).toBe('E_INVALID_INPUT');
  });
});

test('a secret across two pages, or at the cut of an answer, is redacted in both', async () => {
  const secret = 'Correct-Horse-Battery-Staple-4711';
  using fixture = makeDirectory({ 'one-line': `${secret} `.repeat(2500), lines: `${secret}\n`.repeat(2500) });
  await using session = await connectStdio(['--workspace', fixture.path], { env: { CROFT_SECRET_PHRASE: secret } });
  for (const name of ['one-line', 'lines']) {
    const answer = await session.call('bash', { command: `cat ${name}` });
    expect(answer.structured.nextCursor).toBeDefined();
    const shown = [answer.text, JSON.stringify(answer.structured)];
    for (let cursor = answer.structured.nextCursor; cursor !== undefined; ) {
      const page: ToolAnswer = await session.call('next_page', { cursor });
      shown.push(page.text, JSON.stringify(page.structured));
      cursor = page.structured.nextCursor;
    }
    expect(shown.length).toBeGreaterThan(4);
    for (const part of shown) expect(part).not.toMatch(/Correct|Horse|Battery|Staple|4711/);
    expect(shown[0]).toContain('[REDACTED:phrase]');
  }
});

describe('a long argument', () => {
  const long = ['x'.repeat(200_000), '\u0001"é\n'.repeat(50_000)];

  /** Every argument of every tool that takes text, or a list of it. */
  async function inputs(): Promise<[string, Record<string, unknown>][]> {
    const { tools } = await sessionOf('stdio, 2025').client.listTools();
    return tools.flatMap(({ name, inputSchema: { properties = {} } }) =>
      long.flatMap((text) => {
        const whole = Object.entries(properties).map(([key, schema]) => [key, fill(schema as Schema, text)] as const);
        const filled = whole.filter(([, value]) => value !== undefined);
        const few = [...filled.map((entry) => [entry]), filled, [[text, 1] as const]];
        return few.map((entries): [string, Record<string, unknown>] => [name, Object.fromEntries(entries)]);
      }),
    );
  }
  interface Schema {
    readonly type?: string;
    readonly items?: Schema;
  }
  const fill = ({ type, items }: Schema, text: string): unknown =>
    type === 'string' ? text : type === 'array' && items?.type === 'string' ? [text, text] : undefined;

  test('is not repeated in full, also not in an error', async () => {
    for (const [name, input] of await inputs()) {
      const { raw, text } = await call(name, { timeout: 5, ...input });
      const where = `${name} ${Object.keys(input).map((key) => key.slice(0, 20))}: ${text.slice(0, 200)}`;
      for (const channel of [raw.content, raw.structuredContent, raw._meta])
        expect(Buffer.byteLength(JSON.stringify(channel) ?? ''), where).toBeLessThan(maxBytes);
    }
  });
});

describe('a client that shows only one of the channels misses nothing', () => {
  test('of the projects of a workspace', async () => {
    using monorepo = makeDirectory({
      'package.json': '{"scripts": {"lint": "eslint .", "release": "true"}}',
      'service/go.mod': 'module example.com/service\n',
    });
    await using session = await connectStdio(['--workspace', monorepo.path]);
    const { text, structured } = await session.call('workspaces');
    for (const shown of [text, JSON.stringify(structured)])
      for (const word of ['release', 'service', 'go test', 'npm install']) expect(shown).toContain(word);
  });

  test('of a test run, and a green one repeats nothing that the runner printed', async () => {
    using project = makeDirectory({
      'package.json': '{"scripts": {"test": "node --test"}}',
      'a.test.js': "require('node:test').test('adds', () => console.log('noise '.repeat(3000)));",
    });
    await using session = await connectStdio(['--workspace', project.path]);
    const { text, structured } = await session.call('run_tests');
    expect(structured).toMatchObject({ state: 'passed' });
    expect(text).toContain(structured.runs[0].summary);
    expect(structured.runs[0].summary).toMatch(/passed \(1 passed\)/);
    expect(JSON.stringify(structured)).not.toContain('noise');
  });
});
