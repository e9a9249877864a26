import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRemote } from '../remote/runner-fixture.ts';
import { readWhole } from '../support/harness.ts';
import { mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { inner, serverFile } from './fixture.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(['--runner-grace', '3']);
});
afterAll(() => platform[Symbol.asyncDispose]());

/** An agent on a runner whose workspace has a server in it. */
async function startWithServer(name: string) {
  const remote = await startRemote(platform, { name });
  const { account, agentId, ok } = remote;
  await ok('write', { file_path: 'server.mjs', content: serverFile.toString() });
  const config = { mcpServers: { inner: inner('plain', { env: { GREETING: 'hello' } }) } };
  mustBe(200, await account.send('PATCH', `/v1/agents/${agentId}`, { config }));
  return remote;
}

test('a server runs on the runner, without variables of either machine, and each call runs once', async () => {
  await using remote = await startWithServer('serves');
  const { account, agentId, call, ok } = remote;
  expect((await account.tools(agentId)).map(({ name }) => name)).toContain('mcp__inner__echo');
  expect((await ok('mcp__inner__where')).text).toBe('/workspaces/main');
  const environment = await ok('mcp__inner__environment');
  expect(environment.text).toContain('"GREETING":"hello"');
  expect(environment.text).not.toMatch(/RUNNER_CANARY|CROFT_|admin-token/);
  const numbers = Array.from({ length: 40 }, (_, index) => index);
  await Promise.all(numbers.map((number) => ok('mcp__inner__order', { number })));
  const order = (await ok('mcp__inner__order', { number: 'end' })).text.split(',');
  expect(order).toHaveLength(numbers.length + 1);
  expect(new Set(order).size).toBe(numbers.length + 1);
  const words = 'ü'.repeat(400_000);
  expect(await readWhole(call, await ok('mcp__inner__echo', { words }))).toBe(JSON.stringify({ words }));
  expect(await call('mcp__inner__crash')).toMatchObject({
    isError: true,
    text: expect.stringContaining('the last words of this server'),
  });
  expect((await ok('mcp__inner__count')).text).toBe('1');
});

test('a call in progress when the runner is lost fails with that reason', async () => {
  await using remote = await startWithServer('lost');
  const { call, ok, runner } = remote;
  await ok('mcp__inner__count');
  const waiting = call('mcp__inner__hang', {}, { timeout: 110_000 });
  await runner.stop('SIGKILL');
  const answer = await waiting;
  expect(answer).toMatchObject({ isError: true, structured: { error: { code: 'E_RUNNER_LOST' } } });
});
