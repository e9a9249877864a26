import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { collect, croft } from '../support/harness.ts';
import { openPty } from '../support/pty.ts';
import { mustBe } from '../support/servers/platform.ts';
import { type CliFixture, openCliFixture } from './cli-fixture.ts';

let fixture: CliFixture;
let agent: string;
const run: CliFixture['run'] = (...given) => fixture.run(...given);

beforeAll(async () => {
  fixture = await openCliFixture();
  const { account } = fixture;
  const sandbox = await account.newSandbox({ permissionMode: 'ask' });
  const workspaceId = await account.newWorkspace({}, 'notes');
  agent = await account.newAgent({ sandbox, workspaces: [{ name: 'notes', workspaceId }] }, 'writer');
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** A call that a person has to agree to. */
async function ask(file_path: string): Promise<string> {
  const answer = await fixture.account.call(agent, 'write', { file_path, content: 'x\n' });
  return mustBe(202, answer).approval.approvalId;
}

const stateOf = async (id: string) =>
  JSON.parse((await run(['approvals', 'show', id, '--json'])).stdout).approval.state;

test('approvals are listed, shown and decided with the key of an account', async () => {
  const [one, other] = [await ask('one.txt'), await ask('other.txt')];
  expect((await run(['approvals', '-q'])).stdout.trim().split('\n').sort()).toEqual([one, other].sort());
  expect((await run(['approvals', 'show', one])).stdout).toContain('create one.txt');
  expect(await run(['approvals', 'approve', one])).toMatchObject({ exitCode: 0, stdout: `${one}\tapproved\n` });
  expect(await run(['approvals', 'deny', other, '--reason', 'no'])).toMatchObject({
    exitCode: 0,
    stdout: `${other}\tdenied\n`,
  });
  expect(await run(['approvals', 'approve', other])).toMatchObject({ exitCode: 5 });
  expect(await run(['approvals', 'approve', 'ap_000000000000000000000000'])).toMatchObject({ exitCode: 3 });
  expect(await run(['approvals'])).toMatchObject({ stdout: '', stderr: 'nothing waits for an approval\n' });
  const { body } = await fixture.account.send('GET', '/v1/approvals');
  expect(JSON.parse((await run(['approvals', 'list', '--all', '--json'])).stdout).approvals).toEqual(body.approvals);
});

test('approvals list -w asks at a terminal: a key held down decides one, d denies, and another person is heard', async () => {
  using pty = openPty(`${croft} approvals list -w`, { env: fixture.env });
  await pty.until(/waiting for approvals/);
  const first = await ask('first.txt');
  await pty.until(new RegExp(`${first}[\\s\\S]*a approve`));
  const second = await ask('second.txt');
  // Pressed until it counts: what is pressed before a person can have read the question does not.
  await vi.waitFor(async () => {
    pty.type('aaaaaaaaaa');
    expect(await stateOf(first)).toBe('approved');
  });
  await pty.until(new RegExp(`approved\\s+${second}[\\s\\S]*d deny`));
  expect(await stateOf(second)).toBe('pending');
  await vi.waitFor(async () => {
    pty.type('d');
    expect(await stateOf(second)).toBe('denied');
  });
  const third = await ask('third.txt');
  await pty.until(new RegExp(third));
  await run(['approvals', 'approve', third]);
  await pty.until(/approved by key key_/);
  pty.type('q');
  expect(await pty.ended()).toBe(0);
});

test('approvals list -w prints a line for each event into a pipe', async () => {
  const child = spawn(croft, ['approvals', 'list', '-w', '--json'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...fixture.env },
  });
  const [output, closed] = [collect(child), once(child, 'close')];
  const id = await ask('watched.txt');
  await output.find(new RegExp(`"pending".*${id}.*\n`));
  await run(['approvals', 'deny', id]);
  await output.find(/"type":"denied".*\n/);
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
});

test('logs show the last calls, follow new ones of one agent, and lose none while the connection is cut', async () => {
  await using cable = await startFaultyCable(fixture.platform.url);
  const read = (path: string) => fixture.account.call(agent, 'glob', { pattern: path });
  const other = await fixture.account.newAgent({}, 'other');
  await fixture.account.call(other, 'bash', { command: 'echo of the other' });
  mustBe(200, await read('before-*'));
  const past = (await run(['logs', '--agent', 'writer', '-n', '5'])).stdout;
  expect(past).toMatch(/\twriter\t[^\t]*\tglob notes[^\t]*before-\*\tdone in \d+ ms\n/);
  expect(await run(['logs', '--agent', 'absent'])).toMatchObject({ exitCode: 3 });

  const child = spawn(
    croft,
    ['logs', '-f', '--agent', 'writer', '-n', '0', '--server', cable.url, '--key-file', fixture.own.at('key')],
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    },
  );
  const [output, closed] = [collect(child), once(child, 'close')];
  await vi.waitFor(async () => {
    await read('first-*');
    expect(output.stdout()).toContain('first-*\tdone');
  });
  await cable.refuse();
  mustBe(200, await read('while-away-*'));
  await cable.accept();
  mustBe(200, await read('after-*'));
  await output.find(/after-\*\tdone.*\n/);
  expect(output.stdout()).toContain('while-away-*\tdone');
  expect(output.stdout()).not.toContain('of the other');
  child.kill('SIGINT');
  expect(await closed).toEqual([130, null]);
});

test('audit list has the rows of the account, by agent, tool and text, page by page, as REST answers them', async () => {
  await fixture.account.call(agent, 'list', { path: 'audited' });
  const only = ['--agent', 'writer', '--tool', 'list', '--text', 'audited'];
  const { stdout } = await run(['audit', 'list', ...only]);
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^\d+\t\S+Z\twriter\tcall\.ended\tlist notes audited\tE_\w+ in \d+ ms$/),
  ]);
  const { body } = await fixture.account.send('GET', '/v1/audit?order=newest&limit=2');
  const page = JSON.parse((await run(['audit', 'list', '-n', '2', '--json'])).stdout);
  expect(page.audit).toEqual(body.audit);
  const next = await run(['audit', 'list', '-n', '1', '-q', '--after', page.next]);
  expect(Number(next.stdout)).toBe(page.audit[1].sequence - 1);
  expect(next.stderr).toMatch(/^there are more: --after \S+\n$/);
  expect(await run(['audit', 'list', '--outcome', 'odd'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('must be one of'),
  });
  expect(await run(['audit', 'list', '-n', '0'])).toMatchObject({ exitCode: 2 });
});
