import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { collect, croft, makeDirectory } from '../support/harness.ts';
import type { PageFixture } from './page-fixture.ts';

export function setUpCases(get: () => PageFixture): void {
  test('an account with nothing: a first agent in one click, and its first calls', async () => {
    const { platform, signIn, base } = get();
    const account = await platform.newAccount();
    const page = await signIn(account.secret);
    await page.goto(`${base}/agents`);
    await page.click('button:has-text("Make a first agent")');
    await page.waitForURL(`${base}/?start=1`);
    await page.click('.step button:has-text("Write")');
    await page.waitForSelector('.step-done >> text=Written');
    await page.click('.step button:has-text("Run")');
    await page.waitForSelector('.step-done .output >> text=Hello from a person.');
    await page.click('text=Undo the write');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('.step-done >> text=Undone');
    // The feed and the history say what was taken back.
    await page.waitForSelector('.call-change:has-text("undo") >> text=write hello.txt');
    const { body } = await account.send('GET', '/v1/workspaces');
    await page.goto(`${base}/workspaces/${body.workspaces[0].workspaceId}/history`);
    await page.waitForSelector('.moment:has-text("undo") >> text=write hello.txt');
    await page.context().close();
  });

  test('a runner: its command is on the page, it comes, and it goes', async () => {
    const { platform, signIn, base } = get();
    const account = await platform.newAccount();
    const page = await signIn(account.secret);
    await page.goto(`${base}/machines`);
    await page.fill('input[aria-label="Name of the new runner"]', 'laptop');
    await page.click('button:has-text("Add a runner")');
    const command = (await page.textContent('.add-runner pre')) ?? '';
    await page.waitForSelector('.machine:has-text("laptop") >> text=offline');
    using directory = makeDirectory();
    // A shell runs what the person copies, at a machine of their own.
    const env = { PATH: `${directory.path}:${process.env.PATH}`, HOME: directory.path };
    const isolated = command
      .replace(/^croft /m, `exec ${croft} `)
      .replace('--root', `--data ${directory.path}/data --root`);
    const runner = spawn('bash', ['-c', isolated], { cwd: directory.path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = collect(runner);
    const ended = once(runner, 'exit');
    await page.waitForSelector('.machine:has-text("laptop") .runner-online').catch(() => {
      throw new Error(`the runner did not come: ${output.stderr()}`);
    });
    runner.kill('SIGTERM');
    await ended;
    await page.waitForSelector('.machine:has-text("laptop") :is(.runner-offline, .runner-reconnecting)');
    expect(await page.textContent('.machine:has-text("laptop")')).toMatch(/seen/);
    await page.context().close();
  });
}
