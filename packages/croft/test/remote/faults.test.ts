import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { temporaryPrefix } from '../../src/core/files/temporary-prefix.ts';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { connectAgent, mustBe } from '../support/servers/platform.ts';
import { connectTerminal, newTicket } from '../terminals/fixture.ts';
import { addRemote, filesOf, untilRunner } from './runner-fixture.ts';
import { type RunnerWithCable, startRunnerWithCable, withFaultsDuring } from './runner-with-cable.ts';

let platform: RunnerWithCable['platform'];
let cable: RunnerWithCable['cable'];
let remote: RunnerWithCable['remote'];
let cabled: RunnerWithCable;
beforeAll(async () => {
  cabled = await startRunnerWithCable();
  ({ platform, cable, remote } = cabled);
});
afterAll(() => cabled[Symbol.asyncDispose]());

const faults = {
  'is cut': () => cable.cut(),
  'is cut in the middle of what is sent': () => cable.cutAfter(3000),
  'swallows everything': () => cable.swallow(),
  'brings bytes in crumbs': () => cable.split(7),
} as const;

test.each(Object.entries(faults))(
  'a command runs once and its output is complete, while the cable %s',
  async (what, fault) => {
    const name = `runs-${what.length}.txt`;
    const command = `echo run >> ${name}; for i in $(seq 1 4000); do echo line-$i; done; sleep 1; cat ${name}`;
    const { structured } = await withFaultsDuring(cable, fault, remote.ok('bash', { command, timeout: 300 }));
    cable.split(Number.POSITIVE_INFINITY);
    expect(structured.exitCode).toBe(0);
    const lines = readFileSync(join(filesOf(remote.runner), name), 'utf8');
    expect(lines).toBe('run\n');
    expect(structured.output).toContain('line-4000\nrun');
  },
);

test('an upload over REST is complete, while the cable is cut', async () => {
  const bytes = randomBytes(6 * 1024 * 1024);
  const url = `${platform.url}/v1/workspaces/${remote.workspaceId}/file?path=large.bin`;
  const headers = { authorization: `Bearer ${remote.account.secret}` };
  const put = withFaultsDuring(
    cable,
    () => cable.cutAfter(900_000),
    fetch(url, { method: 'PUT', headers, body: bytes }),
  );
  expect((await put).status).toBeLessThan(300);
  expect(readFileSync(join(filesOf(remote.runner), 'large.bin')).equals(bytes)).toBe(true);
  const get = withFaultsDuring(
    cable,
    () => cable.cutAfter(900_000),
    fetch(url, { headers }).then((answer) => answer.arrayBuffer()),
  );
  expect(Buffer.from(await get).equals(bytes)).toBe(true);
});

test('a terminal shows every byte once, while the cable of its runner is cut', async () => {
  using screen = connectTerminal(platform.url, (await newTicket(remote.account, remote)).path);
  await screen.untilMessage('attached');
  const acknowledging = setInterval(() => screen.say({ type: 'ack', offset: screen.length() }), 5);
  const typed = 'stty -echo; PS1=; for i in $(seq 1 5000); do echo line-$i; done; sleep 1; echo all "done"\n';
  screen.type(typed);
  await withFaultsDuring(cable, () => cable.cutAfter(5000), screen.untilText(/all done\r\n/)).finally(() =>
    clearInterval(acknowledging),
  );
  expect(screen.text().match(/line-\d+\r/g)).toEqual(Array.from({ length: 5000 }, (_, index) => `line-${index + 1}\r`));
});

test('concurrent writes while the cable is cut are all there, each file once', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `many/${index}.txt`);
  const writes = Promise.all(names.map((name) => remote.ok('write', { file_path: name, content: name })));
  await withFaultsDuring(cable, () => cable.cut(), writes);
  const there = readdirSync(join(filesOf(remote.runner), 'many'));
  expect(there.sort()).toEqual(names.map((name) => name.slice(5)).sort());
});

test('after the grace period everything in flight fails at once, and is ended on the runner too', async () => {
  await using ownInstallation = openInstallation(['--runner-heartbeat', '0.3', '--runner-grace', '1']);
  const server = await ownInstallation.start();
  const account = await addAccount(server, 'owner');
  await using between = await startFaultyCable(server.url);
  await using far = await addRemote(account, { url: between.url });
  const { runner, agentId } = far;
  const slow = account.call(agentId, 'bash', {
    command: 'echo $$ > pid; while :; do date +%N > beat; sleep 0.05; done',
    timeout: 600,
  });
  await vi.waitFor(() => expect(existsSync(join(filesOf(runner), 'beat'))).toBe(true));
  await between.refuse();
  const { status, body } = await slow;
  expect([status, body.error.code]).toEqual([503, 'E_RUNNER_LOST']);
  const later = await account.call(agentId, 'bash', { command: 'true' });
  expect(later.body.error.code).toBe('E_SANDBOX_UNAVAILABLE');
  await untilRunner(account, 'far', 'offline');
  // The runner has given up as well: nothing beats any more.
  const beat = () => readFileSync(join(filesOf(runner), 'beat'), 'utf8');
  await vi.waitFor(async () => {
    const before = beat();
    await pause(500);
    if (beat() !== before) throw new Error('it still runs');
  });
  await between.accept();
  await untilRunner(account, 'far');
  expect((await account.call(agentId, 'bash', { command: 'true' })).status).toBe(200);
});

test.each(['server', 'runner'] as const)('kill -9 of the %s loses no acknowledged change', async (who) => {
  await using ownInstallation = openInstallation(['--runner-heartbeat', '0.5']);
  let server = await ownInstallation.start();
  const account = await addAccount(server, 'owner');
  await using between = await startFaultyCable(server.url);
  await using far = await addRemote(account, { url: between.url });
  const { runner, agentId } = far;
  const acknowledged: string[] = [];
  const tried: string[] = [];
  const writer = async () => {
    for (let index = 0; index < 400; index++) {
      const name = `${index}.txt`;
      tried.push(name);
      const answer = await account.call(agentId, 'write', { file_path: name, content: `whole ${index}` });
      if (answer.status !== 200) return;
      acknowledged.push(name);
    }
  };
  const writing = writer().catch(() => {});
  await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(20));
  if (who === 'server') await kill(server);
  else await runner.stop('SIGKILL');
  if (who === 'runner') runner.restart();
  await writing;
  const files = filesOf(runner);
  for (const name of acknowledged) expect(readFileSync(join(files, name), 'utf8')).toBe(`whole ${name.slice(0, -4)}`);
  // Nothing else, but for what a write had under way: the next one takes it away.
  for (const name of readdirSync(files)) if (!name.startsWith(temporaryPrefix)) expect(tried).toContain(name);
  if (who === 'server') {
    server = await ownInstallation.start();
    between.aim(server.url);
  }
  const again = moveTo(server, account);
  await untilRunner(again, 'far');
  await using agent = await connectAgent(again, agentId);
  const { text, isError } = await agent.call('bash', { command: 'ls | wc -l' });
  expect(isError).toBe(false);
  expect(Number.parseInt(text, 10)).toBeGreaterThanOrEqual(acknowledged.length);
  expect(mustBe(200, await again.send('GET', '/v1/runners')).runners).toHaveLength(1);
});
