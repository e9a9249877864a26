import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newToken, startRunner, untilRunner } from '../remote/runner-fixture.ts';
import { startFaultyCable } from '../support/faults/faulty-cable.ts';
import { collect, croft, makeDirectory, runCroft } from '../support/harness.ts';
import { type Account, type Platform, startPlatform } from '../support/servers/platform.ts';

const own = makeDirectory();
let platform: Platform;
let account: Account;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('people');
  writeFileSync(own.at('key'), `${account.secret}\n`);
  await account.newSandbox({}, 'here');
  await account.newWorkspace({}, 'project');
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  own[Symbol.dispose]();
});

const as = (url = platform.url) => ['--server', url, '--key-file', own.at('key')];

test('piped input is typed, output is printed, and the command ends as the shell does', async () => {
  const run = await runCroft(['sh', 'project', ...as()], { input: 'echo hi-$((40 + 2)); pwd; exit 3\n' });
  expect(run.stdout).toContain('hi-42\r\n/workspaces/project\r\n');
  expect(run).toMatchObject({ exitCode: 3, stderr: '' });
});

test('the end of the input ends the shell', async () => {
  const run = await runCroft(['sh', 'project', ...as()], { input: 'echo hi-$((40 + 2))\n' });
  expect(run.stdout).toContain('hi-42\r\n');
  expect(run.exitCode).toBe(0);
});

test('an unknown name is refused with the known ones, and a missing argument with its flag', async () => {
  const unknown = await runCroft(['sh', 'nothing', ...as()]);
  expect(unknown.stderr).toContain('there is no workspace nothing; there are: project');
  expect(unknown.exitCode).toBe(3);
  const sandbox = await runCroft(['sh', 'project', '--sandbox', 'nothing', ...as()]);
  expect(sandbox.stderr).toContain('there is no sandbox nothing; there are: here');
  expect((await runCroft(['sh', ...as()])).stderr).toContain('usage: croft sh');
  expect((await runCroft(['sh', 'project', '--server', platform.url])).stderr).toContain('--key-file FILE');
  const cable = await startFaultyCable(platform.url);
  await cable.refuse();
  const nobody = await runCroft(['sh', 'project', ...as(cable.url)]);
  expect(nobody).toMatchObject({ exitCode: 7, stderr: expect.stringContaining('ECONNREFUSED') });
});

test('a terminal on a runner works as here, and resumes after the connection of the person is cut', async () => {
  await using runner = await startRunner({ url: platform.url, token: await newToken(account, 'far') });
  await untilRunner(account, 'far');
  await account.newSandbox({ provider: 'remote', runner: 'far' }, 'there');
  await account.newWorkspace({}, 'away');
  await using cable = await startFaultyCable(platform.url);
  const args = ['sh', 'away', '--sandbox', 'there', ...as(cable.url)];
  const child = spawn(croft, args, {
    cwd: tmpdir(),
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_DATA: own.path },
  });
  const [output, closed] = [collect(child), once(child, 'close')];
  const until = (pattern: RegExp) => vi.waitFor(() => expect(output.stdout().slice(-500)).toMatch(pattern));
  try {
    child.stdin.write('stty -echo; PS1=; echo rea""dy\n');
    await until(/ready\r\n/);
    for (const step of [1, 2]) {
      const lines = `for i in $(seq 1 2000); do echo line-${step}-$i; done`;
      child.stdin.write(`echo be""gun-${step}; sleep 1; ${lines}; echo pa""rt-${step}\n`);
      // It has come there: everything after it is printed while nobody can see it.
      await until(new RegExp(`begun-${step}`));
      await cable.refuse();
      await cable.accept();
      await until(new RegExp(`part-${step}\\r\\n`));
    }
    child.stdin.end('exit 5\n');
    const [exitCode] = await closed;
    expect(exitCode).toBe(5);
  } finally {
    child.kill('SIGKILL');
  }
  const expected = [1, 2].flatMap((step) => Array.from({ length: 2000 }, (_, index) => `line-${step}-${index + 1}\r`));
  expect(output.stdout().match(/line-\d-\d+\r/g)).toEqual(expected);
  expect(runner.child.exitCode).toBe(null);
});
