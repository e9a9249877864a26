import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startRemote, startRunner, untilRunner } from '../remote/runner-fixture.ts';
import { makeDirectory } from '../support/harness.ts';
import { type Platform, startPlatform } from '../support/servers/platform.ts';

const events = makeDirectory();
let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform(['--runner-heartbeat', '5', '--events', events.at('events.jsonl')]);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  events[Symbol.dispose]();
});

const refused = 'IN_USE: another machine is connected with this token';
/** The answers to a runner that connects for the first time, and to one that reconnects. */
const [whenFirst, whenBack] = [new RegExp(`${refused}|runner: online`), new RegExp(`${refused}|online[^]*online`)];

/** Another machine with the token of a runner. */
function startSecond({ runner }: Awaited<ReturnType<typeof startRemote>>) {
  return startRunner({ url: platform.url, token: readFileSync(runner.tokenFile, 'utf8').trim() });
}

type Second = Awaited<ReturnType<typeof startSecond>>;

async function untilExit({ child }: Second): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

test('a second machine with the token of a connected runner is refused, ends, and does not disturb the first', async () => {
  await using remote = await startRemote(platform, { name: 'stolen' });
  const before = await untilRunner(remote.account, 'stolen');
  const running = remote.call('bash', { command: 'until [ -e go ]; do sleep 0.05; done; echo done' });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    await using second = await startSecond(remote);
    expect(await second.output.find(whenFirst)).toBe(refused);
    expect(await untilExit(second)).toBe(2);
  }
  const after = await untilRunner(remote.account, 'stolen');
  expect(after).toMatchObject({ connectedAt: before.connectedAt, lastRefused: { address: '127.0.0.1' } });
  await remote.ok('write', { file_path: 'go', content: '' });
  expect((await running).structured.output).toBe('done\n');

  // Everybody who can do something about it knows, once.
  const reported = /another machine, at 127\.0\.0\.1, came with the token of the runner stolen and was refused/g;
  await remote.runner.output.find(/rotate the token: croft runners rotate stolen/);
  const lines = [remote.runner.output.stderr(), platform.output.stderr()].map((text) => text.match(reported)?.length);
  expect(lines).toEqual([1, 1]);
  await vi.waitFor(() =>
    expect(readFileSync(events.at('events.jsonl'), 'utf8').match(/"lifecycle\.runner\.refused"/g)).toHaveLength(1),
  );
});

test('after the first machine was killed, the second is accepted at once, and the first becomes the second', async () => {
  await using remote = await startRemote(platform, { name: 'moved' });
  await remote.runner.stop('SIGKILL');
  await using second = await startSecond(remote);
  await second.output.find(/croft runner: online/);
  const { connectedAt } = await untilRunner(remote.account, 'moved');
  remote.runner.restart();
  expect(await remote.runner.output.find(whenFirst)).toBe(refused);
  await vi.waitFor(() => expect(remote.runner.child.exitCode).toBe(2));
  expect((await untilRunner(remote.account, 'moved')).connectedAt).toBe(connectedAt);
});

test('a first machine that does not answer is replaced, and does not fight for its place when it is back', async () => {
  await using remote = await startRemote(platform, { name: 'frozen' });
  remote.runner.child.kill('SIGSTOP');
  await using second = await startSecond(remote);
  await second.output.find(/croft runner: online/);
  const { connectedAt } = await untilRunner(remote.account, 'frozen');
  remote.runner.child.kill('SIGCONT');
  expect(await remote.runner.output.find(whenBack)).toBe(refused);
  const after = await untilRunner(remote.account, 'frozen');
  expect([after.connectedAt, remote.runner.child.exitCode, second.child.exitCode]).toEqual([connectedAt, null, null]);
});
