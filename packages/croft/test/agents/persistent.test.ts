import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addRemote } from '../remote/runner-fixture.ts';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { connectTerminal, newTicket } from '../terminals/fixture.ts';

let platform: Platform;
let account: Account;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});
afterAll(() => platform[Symbol.asyncDispose]());

const soon = { idleTimeoutSeconds: 1 };
const later = { idleTimeoutSeconds: 600 };

interface Owned {
  readonly agent: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
}

async function newAgent(config: object, owner = account): Promise<Owned> {
  const sandboxId = await owner.newSandbox({ permissionMode: 'bypass', persistent: true, lifecycle: later, ...config });
  const workspaceId = await owner.newWorkspace();
  const agent = await owner.newAgent({ sandbox: sandboxId, workspaces: [{ name: 'w', workspaceId }] });
  return { agent, sandboxId, workspaceId };
}

const send = (owner: Account, { agent }: Owned, command: string, session = 'one') =>
  owner.call(agent, 'bash', { command }, { 'croft-session': session });

async function run(owned: Owned, command: string, session?: string, owner = account): Promise<string> {
  return mustBe(200, await send(owner, owned, command, session)).output.trim();
}

async function openOf({ sandboxId }: Owned, owner = account): Promise<{ isSuspended: boolean }[]> {
  return mustBe(200, await owner.send('GET', `/v1/sandboxes/${sandboxId}/live`)).open;
}

/** Its session has ended before, so that the agent takes nothing with it. */
async function removeAgent({ agent }: Owned): Promise<void> {
  mustBe(200, await account.send('DELETE', `/v1/agents/${agent}/sessions/one`));
  mustBe(200, await account.send('DELETE', `/v1/agents/${agent}`));
}

/** Tests that run at once cannot use `expect.poll`. */
const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 50 });

const untilSuspended = (owned: Owned, owner = account) =>
  eventually(async () => expect(await openOf(owned, owner)).toMatchObject([{ isSuspended: true }]));

/** The programs on this machine with this word in their command lines. */
function findPrograms(word: string): string[] {
  const hasWord = (pid: string) => readOrNone(`/proc/${pid}/cmdline`).split('\0').includes(word);
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && hasWord(name));
}

const isRunning = (word: string) => findPrograms(word).length > 0;
const readState = (pid: string) => /\) (\w)/.exec(readOrNone(`/proc/${pid}/stat`))?.[1];

function readOrNone(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const ticking = 'setsid bash -c "while :; do echo >> /tmp/ticks; sleep 0.02; done" > /dev/null 2>&1 < /dev/null &';
const countTicks = 'wc -l < /tmp/ticks';

test.concurrent('sessions at once share one sandbox, which is set up once', async () => {
  const owned = await newAgent({ onCreate: ['echo made >> made'] });
  const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`);
  const answers = await Promise.all(sessions.map((session) => run(owned, 'cat made; echo >> /tmp/shared', session)));
  expect(new Set(answers)).toEqual(new Set(['made']));
  expect(await run(owned, 'wc -l < /tmp/shared', 'another')).toBe('20');
  expect(await openOf(owned)).toHaveLength(1);
});

test.concurrent('the end of a session ends what it has in the background, and leaves what it detached', async () => {
  const owned = await newAgent({});
  await run(owned, ticking, 'first');
  const background = { command: 'exec sleep 98761', run_in_background: true };
  mustBe(200, await account.call(owned.agent, 'bash', background, { 'croft-session': 'first' }));
  await eventually(async () => expect(isRunning('98761')).toBe(true));
  mustBe(200, await account.send('DELETE', `/v1/agents/${owned.agent}/sessions/first`));
  await eventually(async () => expect(isRunning('98761')).toBe(false));
  const before = Number(await run(owned, countTicks, 'second'));
  await eventually(async () => expect(Number(await run(owned, countTicks, 'second'))).toBeGreaterThan(before));
});

test.concurrent('without use its programs stop, and the next call lets them continue after onResume', async () => {
  const owned = await newAgent({
    lifecycle: soon,
    onCreate: ['echo created >> log'],
    onResume: ['echo resumed >> log'],
  });
  await run(owned, ticking);
  await untilSuspended(owned);
  const read = `stat -c %s /tmp/ticks; cat log`;
  const [first, ...log] = (await run(owned, read)).split('\n');
  expect(log).toEqual(['created', 'resumed']);
  await eventually(async () =>
    expect(Number(await run(owned, 'stat -c %s /tmp/ticks'))).toBeGreaterThan(Number(first)),
  );
});

test.concurrent('every program of a suspended sandbox is stopped, also those that start others all the time', async () => {
  const owned = await newAgent({ lifecycle: soon });
  await run(owned, 'setsid bash -c "while :; do (:) & (:) & wait; done" forks-98760 > /dev/null 2>&1 < /dev/null &');
  await untilSuspended(owned);
  await eventually(async () => expect(new Set(findPrograms('forks-98760').map(readState))).toEqual(new Set(['T'])));
});

test.concurrent('a failing onResume fails the call, and the next call runs it again', async () => {
  const owned = await newAgent({ lifecycle: soon, onResume: ['test -e /tmp/ready || { touch /tmp/ready; exit 9; }'] });
  await run(owned, 'echo kept > /tmp/kept');
  await untilSuspended(owned);
  const failed = await send(account, owned, 'touch ran');
  expect(failed.body.error).toMatchObject({
    code: 'E_SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('exit 9'),
  });
  expect(await run(owned, 'cat /tmp/kept; test -e ran || echo not')).toBe('kept\nnot');
});

test.concurrent('its lifetime ends it during a command, which says so; the next call has a new one', async () => {
  const owned = await newAgent({ lifecycle: { maxLifetimeSeconds: 4 }, onCreate: ['echo made >> made'] });
  const answer = mustBe(200, await send(account, owned, 'echo begun; touch /tmp/old; sleep 98762'));
  expect(answer.output).toContain('begun');
  expect(JSON.stringify(answer)).toContain('maxLifetimeSeconds');
  expect(isRunning('98762')).toBe(false);
  expect(await run(owned, 'wc -l < made; ls /tmp/old 2>&1 | wc -l')).toBe('2\n1');
  expect(await run(owned, 'ls /tmp')).not.toContain('old');
});

test.concurrent('the removal of its records ends it while it is suspended', async () => {
  const owned = await newAgent({ lifecycle: soon });
  await run(owned, 'setsid sleep 98763 > /dev/null 2>&1 < /dev/null &');
  await untilSuspended(owned);
  await removeAgent(owned);
  expect(isRunning('98763')).toBe(true);
  mustBe(200, await account.send('DELETE', `/v1/sandboxes/${owned.sandboxId}`));
  expect(isRunning('98763')).toBe(false);
});

test.concurrent('the removal of its workspace ends it first', async () => {
  const owned = await newAgent({});
  await run(owned, 'setsid bash -c "while :; do echo >> busy; done" busy-98764 > /dev/null 2>&1 < /dev/null &');
  await removeAgent(owned);
  expect(isRunning('busy-98764')).toBe(true);
  mustBe(200, await account.send('DELETE', `/v1/workspaces/${owned.workspaceId}`));
  expect(isRunning('busy-98764')).toBe(false);
});

test.concurrent('an agent that loses its access takes its detached programs with it', async () => {
  const owned = await newAgent({});
  await run(owned, 'setsid sleep 98765 > /dev/null 2>&1 < /dev/null &');
  mustBe(200, await account.send('PATCH', `/v1/sandboxes/${owned.sandboxId}`, { config: { permissionMode: 'ask' } }));
  await eventually(async () => expect(isRunning('98765')).toBe(false));
});

test.concurrent('changed settings apply to the next call, in a new sandbox that resumes', async () => {
  const owned = await newAgent({ onCreate: ['echo created >> log'], onResume: ['echo resumed >> log'] });
  await run(owned, 'touch /tmp/old');
  const config = { envVars: { ADDED: 'yes' } };
  mustBe(200, await account.send('PATCH', `/v1/sandboxes/${owned.sandboxId}`, { config }));
  expect(await run(owned, 'echo $ADDED; ls /tmp; cat log')).toBe('yes\ncreated\nresumed');
  await eventually(async () => expect(await openOf(owned)).toHaveLength(1));
});

test.concurrent('a changed lifecycle applies at once, and interrupts nobody', async () => {
  const owned = await newAgent({});
  await run(owned, 'touch /tmp/kept');
  const config = { lifecycle: soon };
  mustBe(200, await account.send('PATCH', `/v1/sandboxes/${owned.sandboxId}`, { config }));
  await untilSuspended(owned);
  expect(await run(owned, 'ls /tmp')).toContain('kept');
});

test.concurrent('a terminal of a person is in the same sandbox, and its end leaves the rest', async () => {
  const owned = await newAgent({ lifecycle: soon, onResume: ['echo resumed >> /tmp/log'] });
  await run(owned, 'setsid sleep 98766 > /dev/null 2>&1 < /dev/null & echo agent > /tmp/from');
  await untilSuspended(owned);
  const { path } = await newTicket(account, owned);
  using screen = connectTerminal(platform.url, path);
  await screen.untilMessage('attached');
  screen.type('cat /tmp/from /tmp/log | tr "\\n" "+"; exec sleep 98767\n');
  await screen.untilText(/agent\+resumed\+/);
  screen.socket.close();
  expect(isRunning('98766')).toBe(true);
});

test.concurrent('at the limit of the account, the one that was suspended longest makes place', async () => {
  await using small = await startPlatform(['--account-limit', 'sandboxes=1']);
  const owner = await small.newAccount();
  const [first, second] = [await newAgent({ lifecycle: soon }, owner), await newAgent({}, owner)];
  await run(first, 'touch /tmp/first', 'one', owner);
  const refused = await send(owner, second, 'true');
  expect(refused.body.error).toMatchObject({ code: 'E_QUOTA' });
  await untilSuspended(first, owner);
  expect(await run(second, 'echo in', 'one', owner)).toBe('in');
  expect(await openOf(first, owner)).toEqual([]);
});

test.concurrent('a server that starts again resumes it, and does not set it up again', async () => {
  await using installation = openInstallation();
  const before = await installation.start();
  const known = await addAccount(before, 'ann');
  const owned = await newAgent({ onCreate: ['echo created >> log'], onResume: ['echo resumed >> log'] }, known);
  expect(await run(owned, 'cat log', 'one', known)).toBe('created');
  await kill(before);
  const after = moveTo(await installation.start(), known);
  expect(await run(owned, 'cat log', 'one', after)).toBe('created\nresumed');
});

test.concurrent('on a runner it is shared, stopped and resumed in the same way', async () => {
  const config = {
    persistent: true,
    lifecycle: soon,
    onCreate: ['echo created >> log'],
    onResume: ['echo resumed >> log'],
  };
  await using remote = await addRemote(account, { name: 'far', sandbox: config });
  const owned = { ...remote, agent: remote.agentId };
  await run(owned, 'setsid sleep 98768 > /dev/null 2>&1 < /dev/null &', 'first');
  await untilSuspended(owned);
  await eventually(async () => expect(findPrograms('98768').map(readState)).toEqual(['T']));
  expect(await run(owned, 'cat log', 'second')).toBe('created\nresumed');
  const useAndRead = async () => {
    await run(owned, 'true', 'second');
    return findPrograms('98768').map(readState);
  };
  await eventually(async () => expect(await useAndRead()).toEqual(['S']));
});
