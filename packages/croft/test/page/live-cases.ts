import { expect, test } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';
import { adminToken, openAccount } from '../support/servers/platform.ts';
import { type PageFixture, setUpAgent } from './page-fixture.ts';

export function liveCases(get: () => PageFixture): void {
  test('two tabs, one stream: both see a call while it runs and when it ends', async () => {
    const { platform, signIn, base } = get();
    const { account, agentId } = await setUpAgent(platform, { permissionMode: 'bypass' });
    const one = await signIn(account.secret);
    await one.waitForSelector('.live-live');
    const streams: string[] = [];
    one.context().on('request', (request) => {
      if (request.url().includes('/v1/events')) streams.push(request.url());
    });
    const other = await one.context().newPage();
    await other.goto(base);
    for (const page of [one, other]) await page.waitForSelector('.live-live');
    const call = account.call(agentId, 'bash', { command: 'read line < <(sleep 2); exit 3' });
    for (const page of [one, other]) await page.waitForSelector('.call-running');
    await call;
    for (const page of [one, other]) await page.waitForSelector('.call-failed >> text=exit 3');
    expect(streams).toEqual([]);
    // The tab that read the stream goes, and the other one takes over.
    await one.close();
    await account.call(agentId, 'bash', { command: 'echo taken over' });
    await other.waitForSelector('.call-ran >> text=taken over');
    await other.context().close();
  });

  test('the output of a running command, and what its sandbox uses', async () => {
    const { platform, signIn, base } = get();
    const { account, agentId } = await setUpAgent(platform, { permissionMode: 'bypass' });
    const page = await signIn(account.secret);
    await page.waitForSelector('.live-live');
    const command =
      'node -e "require(\'http\').createServer().listen(4812)" & echo first; ' +
      'until [ -e go ]; do read -rt 0.05 <> <(:); done; echo second; sleep 1; kill %1';
    const call = account.call(agentId, 'bash', { command });
    await page.click('.call-running');
    await page.waitForSelector('.running .output >> text=first');
    const machines = await page.context().newPage();
    await machines.goto(`${base}/machines`);
    await machines.waitForSelector('.meter >> text=:4812');
    await machines.waitForSelector('.meter .gauge-value >> text=/MiB of/');
    // A chart has two readings at least.
    await machines.waitForSelector('.meter .sparkline polyline', { state: 'attached' });
    await account.call(agentId, 'write', { file_path: 'go', content: '' });
    await page.waitForSelector('.running .output >> text=second');
    await call;
    await page.waitForSelector('.running >> text=as it was seen last');
    await page.context().close();
  });

  test('a network that is gone: a banner at once, no decision, and it goes when the network is back', async () => {
    const { platform, signIn, base } = get();
    const { account, agentId } = await setUpAgent(platform);
    const { body } = await account.call(agentId, 'bash', { command: 'echo wait' });
    const page = await signIn(account.secret);
    await page.waitForSelector('.live-live');
    await page.click('.waiting >> text=Look');
    await page.waitForSelector('.button-approve:enabled');
    await page.context().setOffline(true);
    await page.waitForSelector('.banner >> text=The server does not answer');
    expect(await page.isDisabled('.button-approve')).toBe(true);
    await page.context().setOffline(false);
    await page.waitForSelector('.button-approve:enabled');
    expect(await page.locator('.banner').count()).toBe(0);
    await account.approve(body.approval.approvalId);
    await page.waitForSelector('.decision-approved');
    expect(page.url()).toContain(base);
    await page.context().close();
  });

  test('10,000 calls in one burst: the newest on the screen, and the elements of one screen', async () => {
    const { platform, signIn, base } = get();
    const { account } = await setUpAgent(platform);
    const page = await signIn(account.secret);
    const events = Array.from({ length: 10_000 }, (_, index) => {
      const details = { call: `call ${index}`, tool: 'edit', workspace: 'notes', title: `src/file-${index}.ts` };
      const record = { sequence: index, accountId: 'a', actor: `agent_${index % 20} key_1/default`, target: 'edit' };
      const row = {
        ...record,
        at: new Date().toISOString(),
        action: 'call.ended',
        previous: '',
        hash: `hash ${index}`,
      };
      return `data: ${JSON.stringify({ type: 'audit', record: { ...row, details: JSON.stringify(details) } })}\n\n`;
    });
    const body = `retry: 600000\n\n${events.join('')}`;
    await page.route('**/v1/events*', (route) => route.fulfill({ contentType: 'text/event-stream', body }));
    await page.goto(base);
    await page.waitForSelector('.call >> text=src/file-9999.ts');
    const list = page.locator('.list');
    expect(await list.evaluate((element) => element.scrollHeight)).toBe(280_000);
    expect(await page.locator('.list-row').count()).toBeLessThanOrEqual(80);
    expect(await page.locator('select[aria-label=Agent] option').count()).toBe(21);
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await page.waitForSelector('.call >> text=src/file-5000.ts');
    expect(await page.locator('.list-row').count()).toBeLessThanOrEqual(80);
    await page.context().close();
  });

  test('the server stops and starts: a banner, then every call once', async () => {
    const { newPage } = get();
    using data = makeDirectory();
    using workspace = makeDirectory();
    const start = (port: string) =>
      startServer(['--data', data.path, '--port', port, '--workspace', workspace.path], {
        env: { CROFT_ADMIN_TOKEN: adminToken },
      });
    const first = await start('0');
    const { port } = new URL(first.url);
    const made = await fetch(new URL('/accounts', first.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${adminToken}` },
      body: JSON.stringify({ username: 'ann' }),
    });
    const { secret, account: record } = await made.json();
    const account = openAccount(first.url, secret, record.accountId);
    const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
    const workspaceId = await account.newWorkspace();
    const agentId = await account.newAgent({ sandbox, workspaces: [{ name: 'notes', workspaceId }] });
    const write = (name: string) => account.call(agentId, 'write', { file_path: name, content: name });
    await write('before.md');
    const page = await newPage();
    // This server has another address than that of the other tests.
    const base = `http://croft.localhost:${port}`;
    get().allow(base);
    await page.goto(base);
    await page.fill('#key', secret);
    await page.click('button[type=submit]');
    await page.waitForSelector('.live-live');
    await first[Symbol.asyncDispose]();
    await page.waitForSelector('.banner >> text=The server does not answer');
    await page.waitForSelector('.call >> text=before.md');
    await using _second = await start(port);
    await write('after.md');
    await page.waitForSelector('.live-live');
    await page.waitForSelector('.call >> text=after.md');
    expect(await page.locator('.banner').count()).toBe(0);
    expect(await page.locator('.call').count()).toBe(2);
    await page.context().close();
  });
}
