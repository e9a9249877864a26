import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { ErrorEnvelope, errorCatalog } from '@croft/protocol';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerOutput } from '../../src/core/answers/answer-output.ts';
import * as everyTool from '../../src/tools/index.ts';
import { connectStdio, type Era, eras, type McpSession, makeDirectory } from '../support/harness.ts';
import { type Arguments, samples } from './tool-samples.ts';

type Listed = Awaited<ReturnType<McpSession['client']['listTools']>>['tools'][number];

const directory = makeDirectory({ 'a/seed.txt': '', 'b/seed.txt': '' });
const sessions = new Map<Era, McpSession>();
const listed = new Map<string, Listed>();
beforeAll(async () => {
  for (const era of eras) {
    const spec = `a=${directory.at('a')},b=${directory.at('b')}`;
    const session = await connectStdio(['--workspaces', spec, '--tools', 'all'], { era });
    const { tools } = await session.client.listTools();
    sessions.set(era, session);
    for (const tool of tools) listed.set(tool.name, tool);
  }
});
afterAll(async () => {
  for (const session of sessions.values()) await session[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const readers = [
  ...['cd', 'read', 'list', 'glob', 'grep', 'workspaces', 'secret', 'secrets_available'],
  ...['last_test_failures', 'next_page', 'tests_covering', 'snapshot_diff', 'snapshot_list', 'undo_list'],
  ...['agents', 'skill', 'skills', 'ast_search', 'calls', 'diagnostics', 'find_definition', 'find_implementations'],
  ...['find_references', 'hover', 'outline', 'read_symbol', 'repo_map', 'search_code'],
];

/** Tools that work in no particular workspace. */
const ofNone = ['next_page', 'shells', 'workspaces'];

/** Tools of the harness are only for agents of accounts: test/agents. */
const registry = Object.fromEntries(Object.entries(everyTool).filter(([, { isHarness }]) => !isHarness));

const rows = (kind: 'succeeds' | 'fails') =>
  eras.flatMap((era) =>
    Object.entries(samples).flatMap(([name, sample]) => sample[kind].map((args) => [era, name, args] as const)),
  );

async function callInFreshTree(era: Era, name: string, args: Arguments) {
  for (const root of ['a', 'b']) rmSync(directory.at(`${root}/dir`), { recursive: true, force: true });
  rmSync(directory.at('a/moved.txt'), { force: true });
  rmSync(directory.at('a/new'), { recursive: true, force: true });
  mkdirSync(directory.at('a/dir'));
  const tree = {
    'text.txt': 'one\ntwo\nthree\n',
    empty: '',
    blob: 'a\0b',
    'pixel.gif': 'GIF89a\0\0',
    'dir/x': '',
    'dir/y': '',
    'code.ts': 'class Shop {\n  add() {\n    return used;\n  }\n}\nconst used = 1;\n',
  };
  for (const [file, content] of Object.entries(tree)) writeFileSync(directory.at(`a/${file}`), content);
  writeFileSync(directory.at('a/unread.txt'), 'x y');
  writeFileSync(directory.at('a/unread.ts'), 'function f() {}\n');
  const session = sessions.get(era);
  if (!session) throw new Error(`no session of ${era}`);
  for (const file of ['text.txt', 'code.ts']) await session.call('read', { workspace: 'a', file_path: file });
  return session.call(name, ofNone.includes(name) ? args : { workspace: 'a', ...args });
}

test('every tool of the registry is listed once, and has samples in this test', () => {
  const names = Object.values(registry).map(({ name }) => name);
  expect([...listed.keys()].toSorted()).toEqual(names.toSorted());
  expect(Object.keys(samples).toSorted()).toEqual(names.toSorted());
});

test('no two tools have the same name or alias', () => {
  const spellings = Object.values(registry).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(spellings.filter((spelling, index) => spellings.indexOf(spelling) !== index)).toEqual([]);
});

describe.each(Object.values(registry).map(({ name }) => name))('%s', (name) => {
  const tool = () => listed.get(name) as Listed;

  test('describes its purpose and its arguments', () => {
    const { title, description, inputSchema } = tool();
    expect(title).toMatch(/^[A-Z]/);
    expect(description).toMatch(/^[A-Z].{20,}\.$/s);
    expect(inputSchema.type).toBe('object');
    const properties = Object.entries(inputSchema.properties ?? {}) as [
      string,
      { type?: string; description?: string; enum?: unknown },
    ][];
    const unexplained = properties.filter(
      ([, schema]) => !schema.description && !schema.enum && schema.type !== 'boolean',
    );
    expect(unexplained.map(([property]) => property)).toEqual([]);
    for (const required of inputSchema.required ?? [])
      expect(properties.map(([property]) => property)).toContain(required);
  });

  test('describes its result, in a schema that compiles and refuses some values', () => {
    const { outputSchema } = tool();
    // An image has no structured content, which a client would miss where a schema is declared.
    const known = Object.values(registry).find((one) => one.name === name);
    if (known?.answersImages) return expect(outputSchema).toBeUndefined();
    expect(outputSchema?.type).toBe('object');
    const isValid = new AjvJsonSchemaValidator().getValidator(outputSchema as never);
    expect(isValid({}).valid).toBe(false);
    expect(isValid({ error: {} }).valid).toBe(false);
  });

  test('has hints that agree with its behaviour', () => {
    const reads = readers.includes(name);
    const executes = Object.values(registry).some((known) => known.name === name && known.access === 'execute');
    expect(tool().annotations).toMatchObject({
      title: tool().title,
      readOnlyHint: reads,
      destructiveHint: !reads,
      openWorldHint: executes,
    });
    if (reads) expect(tool().annotations?.idempotentHint).toBe(true);
  });

  test('is described the same in both eras', async () => {
    const both = await Promise.all([...sessions.values()].map(({ client }) => client.listTools()));
    const [before, now] = both.map(({ tools }) => tools.find((one) => one.name === name));
    expect(now).toEqual(before);
  });
});

test.each(rows('succeeds'))(
  'in %s, %s with %j answers with text and with structure that fits its schema',
  async (era, name, args) => {
    const { isError, structured, content, text } = await callInFreshTree(era, name, args);
    expect(isError, text).toBe(false);
    expect(content[0]).toEqual({ type: 'text', text: expect.stringMatching(/\S/) });
    const { output } = Object.values(registry).find((tool) => tool.name === name) ?? {};
    if (content.length > 1) return expect(structured).toBeUndefined();
    const { outputSchema } = listed.get(name) as Listed;
    if (outputSchema)
      expect(new AjvJsonSchemaValidator().getValidator(outputSchema as never)(structured)).toMatchObject({
        valid: true,
      });
    const whole = output?.extend(answerOutput).strict();
    if (args.workspace !== 'all') expect(whole?.safeParse(structured)).toMatchObject({ success: true });
  },
);

test.each(rows('fails'))(
  'in %s, %s with %j fails with a clear message and a code of the catalogue',
  async (era, name, args) => {
    const { isError, structured, content, raw } = await callInFreshTree(era, name, args);
    expect(isError).toBe(true);
    expect(raw).not.toHaveProperty('structuredContent');
    const { error } = ErrorEnvelope.strict().parse(structured);
    expect(Object.keys(structured.error).toSorted()).toEqual(['code', 'details', 'hint', 'kind', 'message']);
    const { kind, ...traits } = errorCatalog[error.code];
    expect(error.kind).toBe(kind);
    expect(error.hint).toMatch(/^[A-Z].{15,}/);
    expect(error.code).not.toBe('E_INTERNAL');
    expect(content).toHaveLength(1);
    expect(content[0]?.text).toContain(error.message);
    if (!('plain' in traits))
      expect(String(content[0]?.text).endsWith(`\nNext: ${error.hint}\nCode: ${error.code}`)).toBe(true);
    expect(content[0]?.text).not.toMatch(/\n {4}at |node:|undefined|\[object/);
  },
);

test.each(eras)('an unknown tool fails in the same way in %s', async (era) => {
  for (const name of ['nope', '', 'READ', '__proto__', 'constructor', 'toString']) {
    const answer = await sessions.get(era)?.call(name, {});
    expect(answer?.structured.error.code, name).toBe('E_UNKNOWN_TOOL');
  }
  expect((await sessions.get(era)?.call('raed', {}))?.content[0]?.text).toContain('the nearest is read');
});

test('with --readonly only tools that read exist, and no name calls another', async () => {
  writeFileSync(directory.at('a/kept.txt'), 'kept');
  await using session = await connectStdio(['--workspace', directory.at('a'), '--readonly', '--tools', 'all']);
  const { tools } = await session.client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(readers.toSorted());
  await session.call('read', { file_path: 'kept.txt' });
  const writers = Object.values(registry).filter(({ access }) => access !== 'read');
  for (const name of writers.flatMap(({ name, aliases = [] }) => [name, ...aliases])) {
    const args = {
      file_path: 'kept.txt',
      content: 'x',
      old_string: 'kept',
      new_string: 'x',
      from: 'kept.txt',
      to: 'x',
    };
    expect((await session.call(name, args)).structured.error.code, name).toBe('E_UNKNOWN_TOOL');
  }
  expect((await session.call('read', { file_path: 'kept.txt' })).text).toBe('1\tkept\n');
  expect((await session.call('workspaces')).structured.workspaces).toMatchObject([{ access: 'read-only' }]);
});
