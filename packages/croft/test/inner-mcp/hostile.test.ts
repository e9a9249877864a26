import { readFileSync } from 'node:fs';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inner, openFixture } from './fixture.ts';

type Fixture = Awaited<ReturnType<typeof openFixture>>;

/** Limit of memory of the server program. */
function peakBytes({ transport }: Fixture): number {
  const status = readFileSync(`/proc/${(transport as StdioClientTransport).pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

const mostGrowth = 100 * 1024 * 1024;

describe('the tool list of a server', () => {
  test('with ten thousand tools is cut, and the cut is reported', async () => {
    await using fixture = await openFixture({ servers: { many: inner('many-tools'), inner: inner() } });
    const names = await fixture.names();
    expect(names.filter((name) => name.startsWith('mcp__many__'))).toHaveLength(128);
    expect(names).toContain('mcp__inner__echo');
    expect(fixture.told()).toContainEqual(
      expect.objectContaining({ server: 'many', state: 'cut', reason: 'left out: all tools after the first 128' }),
    );
  });

  test('with endless pages is ended', async () => {
    await using fixture = await openFixture({ servers: { many: inner('endless-pages') } });
    expect((await fixture.names()).length).toBe(16);
  });

  test('with hostile names and schemas is cleaned', async () => {
    await using fixture = await openFixture({ servers: { tricky: inner('tricks') } });
    const { tools } = await fixture.client.listTools();
    const found = new Map(tools.flatMap((tool) => (tool.name.startsWith('mcp__') ? [[tool.name, tool]] : [])));
    const left = ['twice', 'hidden', 'wide', 'no_schema', 'x__y'];
    expect([...found.keys()]).toEqual(left.map((name) => `mcp__tricky__${name}`));
    expect(found.get('mcp__tricky__twice')?.description).toMatch(/^does twice/);
    expect(found.get('mcp__tricky__hidden')?.description).toMatch(/^good words\n/);
    expect(found.get('mcp__tricky__hidden')?.inputSchema.title).toBe('ab');
    const plain = { type: 'object', properties: { workspace: expect.anything() } };
    expect(found.get('mcp__tricky__wide')?.inputSchema).toEqual(plain);
    expect(found.get('mcp__tricky__no_schema')?.inputSchema).toEqual(plain);
  });
});

describe('a server whose tools cannot be listed', () => {
  // The list waits ten seconds for servers that never answer: it is asked for before the other tests.
  let mute: Promise<Fixture>;
  let names: Promise<string[]>;
  beforeAll(() => {
    const servers = { mute: inner('mute'), silent: inner('silent'), inner: inner('plain', { tools: ['echo'] }) };
    mute = openFixture({ servers });
    names = mute.then((fixture) => fixture.names());
    names.catch(() => {});
  });

  test.each([
    ['floods without a line end', 'no-newline', /more than 4194304 bytes as one message/],
    ['sends a hundred megabytes as one answer', 'hundred-megabytes', /more than 4194304 bytes as one message/],
    ['tells things nobody asked for without an end', 'notifying', /too many messages that nobody asked for/],
  ])('because it %s is left out, and the others stay', async (_, mode, reason) => {
    await using fixture = await openFixture({
      servers: { bad: inner(mode), inner: inner('plain', { tools: ['echo'] }) },
    });
    await fixture.call('bash', { command: 'true' });
    const before = peakBytes(fixture);
    expect(await fixture.names()).toEqual(['mcp__inner__echo']);
    expect((await fixture.call('mcp__inner__echo', { a: 1 })).text).toBe('{"a":1}');
    const reports = fixture.told().filter(({ server, state }) => server === 'bad' && state !== 'started');
    expect(reports[0]?.reason).toMatch(reason);
    expect(peakBytes(fixture) - before).toBeLessThan(mostGrowth);
  });

  test('because it never answers is left out', async () => {
    await using fixture = await mute;
    expect(await names).toEqual(['mcp__inner__echo']);
    expect((await fixture.call('mcp__inner__echo', { a: 1 })).text).toBe('{"a":1}');
    for (const name of ['mute', 'silent']) {
      const reports = fixture.told().filter(({ server, state }) => server === name && state !== 'started');
      expect(reports[0]?.reason).toMatch(/did not answer within 10 s/);
    }
  });

  test('because its program is missing is reported', async () => {
    await using fixture = await openFixture({ servers: { bad: { command: 'no-such-program' }, inner: inner() } });
    expect(await fixture.names()).toContain('mcp__inner__echo');
    expect(fixture.told().find(({ server }) => server === 'bad')).toMatchObject({ state: 'failed' });
    const called = await fixture.call('mcp__bad__echo');
    expect(called).toMatchObject({ isError: true, text: expect.stringContaining('no-such-program') });
  });
});

describe('an answer of a server', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({ servers: { inner: inner() } });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  test('that floods ends that server and no other, with bounded memory', async () => {
    await using fixture = await openFixture({ servers: { bad: inner(), inner: inner() } });
    await fixture.names();
    const before = peakBytes(fixture);
    const flooded = await fixture.call('mcp__bad__flood');
    expect(flooded).toMatchObject({ isError: true, structured: { error: { code: 'E_MCP_SERVER' } } });
    expect(flooded.text).toContain('more than 4194304 bytes as one message');
    expect(peakBytes(fixture) - before).toBeLessThan(mostGrowth);
    expect((await fixture.call('mcp__inner__echo', {})).text).toBe('{}');
    expect((await fixture.call('mcp__bad__echo', {})).text).toBe('{}');
  });

  test('that never comes ends at the timeout, and the server goes on', async () => {
    await using fixture = await openFixture({ servers: { inner: inner('plain', { timeoutSeconds: 2 }) } });
    const pid = (await fixture.call('mcp__inner__pid')).text;
    const late = await fixture.call('mcp__inner__hang');
    expect(late).toMatchObject({ isError: true, structured: { error: { code: 'E_TIMEOUT' } } });
    expect((await fixture.call('mcp__inner__pid')).text).toBe(pid);
  });

  test('that is large is cut like every other', async () => {
    const { text } = await fixture.call('mcp__inner__large');
    expect(text.length).toBeLessThan(1_100_000);
    expect(text).toContain('output truncated');
  });

  test('that is nested too deeply has no structure', async () => {
    expect(await fixture.call('mcp__inner__deep')).toMatchObject({ isError: false, structured: { text: '' } });
  });

  test('is not waited for with unbounded memory, if the server does not read', async () => {
    await using fixture = await openFixture({
      servers: { deaf: inner('plain', { timeoutSeconds: 3 }), inner: inner() },
    });
    expect((await fixture.call('mcp__deaf__deafen')).text).toBe('deaf');
    const words = 'x'.repeat(900_000);
    const calls = Array.from({ length: 48 }, () => fixture.call('mcp__deaf__echo', { words }));
    const answers = await Promise.all(calls);
    const codes = new Set(answers.map(({ structured }) => structured.error?.code));
    expect([...codes].sort()).toEqual(['E_MCP_SERVER', 'E_TIMEOUT']);
    expect(answers.map(({ text }) => text).join()).toMatch(/has not read \d+ bytes/);
    expect((await fixture.call('mcp__inner__echo', {})).text).toBe('{}');
  });

  test('to each of many large concurrent calls reaches its call', async () => {
    const words = 'x'.repeat(500_000);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, number) => fixture.call('mcp__inner__echo', { number, words })),
    );
    expect(answers.map(({ text }) => text.slice(0, 12))).toEqual(
      answers.map((_, number) => `{"number":${number},"words"`.slice(0, 12)),
    );
  });

  test('is not waited for, if the input is too large', async () => {
    const answer = await fixture.call('mcp__inner__echo', { words: 'x'.repeat(2_000_000) });
    expect(answer).toMatchObject({ isError: true, structured: { error: { code: 'E_INVALID_INPUT' } } });
  });
});
