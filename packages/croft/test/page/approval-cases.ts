import { expect, test } from 'vitest';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { connectAgent, startPlatform } from '../support/servers/platform.ts';
import { type PageFixture, pathsOf, setUpAgent } from './page-fixture.ts';

export function approvalCases(get: () => PageFixture): void {
  test('a client waits for an edit; one key, and its call returns', async () => {
    const { platform, signIn } = get();
    const setup = await setUpAgent(platform);
    const page = await signIn(setup.account.secret);
    await page.waitForSelector('.live-live');
    await using agent = await connectAgent(setup.account, setup.agentId);
    const startedAt = performance.now();
    const call = agent.call('write', { file_path: 'a.md', content: 'hello\n' });
    await page.waitForSelector('.waiting');
    const shownMs = performance.now() - startedAt;
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.waitForSelector('.approval >> text=hello');
    expect(await page.title()).toBe('(1) Approvals · Croft');
    await page.waitForTimeout(350);
    await page.keyboard.press('a');
    expect(await call).toMatchObject({ isError: false });
    await page.waitForSelector('text=/^Approved/');
    expect(await pathsOf(setup)).toEqual(['a.md']);
    // Asked to on the screen, with the whole start of an MCP call in it; alone on a machine it is a tenth of this.
    expect(shownMs).toBeLessThan(2000);
    await page.context().close();
  });

  test('D and a reason: the agent reads it; S: the very same call runs, and another asks', async () => {
    const { platform, signIn } = get();
    const setup = await setUpAgent(platform);
    const page = await signIn(setup.account.secret);
    await page.waitForSelector('.live-live');
    await using agent = await connectAgent(setup.account, setup.agentId);
    const denied = agent.call('bash', { command: 'rm -rf build' });
    await page.click('.waiting >> text=Look');
    await page.waitForSelector('.approval');
    await page.waitForTimeout(350);
    await page.keyboard.press('d');
    await page.fill('#reason', 'keep the build');
    await page.keyboard.press('Enter');
    expect((await denied).text).toContain('keep the build');
    await page.waitForSelector('text=keep the build');

    const same = { command: 'true' };
    const allowed = agent.call('bash', same);
    await page.waitForSelector('.decision >> text=Next');
    await page.keyboard.press('j');
    await page.waitForSelector('.exactly:has-text("true")');
    await page.waitForTimeout(350);
    await page.keyboard.press('s');
    expect((await allowed).isError).toBe(false);
    expect((await agent.call('bash', same)).isError).toBe(false);
    expect((await setup.account.call(setup.agentId, 'bash', { command: 'false' })).status).toBe(202);
    await page.context().close();
  });

  test('hidden characters are marks, and long content is unfolded before it can be approved', async () => {
    const { platform, signIn } = get();
    const setup = await setUpAgent(platform);
    const hidden = 'echo \u202e evil \u200b \u001b[2K\n';
    const long = Array.from({ length: 200 }, (_, index) => `echo ${index}`).join('\n');
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: hidden + long });
    const page = await signIn(setup.account.secret);
    await page.goto(`${get().base}/approvals/${body.approval.approvalId}`);
    await page.waitForSelector('.exactly');
    const shown = await page.textContent('.approval-content');
    expect(await page.locator('.exactly .unseen').allTextContents()).toEqual(['U+202E', 'U+200B', 'ESC']);
    expect(shown).toMatch(/U\+202E/);
    expect(shown).toMatch(/U\+200B/);
    expect(shown).toMatch(/ESC|U\+001B/);
    for (const character of ['\u202e', '\u200b', '\u001b']) expect(shown).not.toContain(character);
    await page.waitForTimeout(350);
    expect(await page.isDisabled('.button-approve')).toBe(true);
    await page.keyboard.press('a');
    await page.click('text=/Show all/');
    expect(await page.textContent('.exactly')).toContain('echo 199');
    expect(await page.isDisabled('.button-approve')).toBe(false);
    const after = await setup.account.send('GET', `/v1/approvals/${body.approval.approvalId}`);
    expect(after.body.approval.state).toBe('pending');
    await page.context().close();
  });

  test('a key that is held, and a click that was meant for another card, decide nothing', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const ids = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const { body } = await setup.account.call(setup.agentId, 'bash', { command: `echo ${name}` });
        return body.approval.approvalId as string;
      }),
    );
    const page = await signIn(setup.account.secret);
    await page.goto(`${base}/approvals/${ids[0]}`);
    await page.waitForSelector('.button-approve');
    await page.keyboard.press('a');
    const stateOf = async (id: string | undefined) =>
      (await setup.account.send('GET', `/v1/approvals/${id}`)).body.approval.state;
    expect(await stateOf(ids[0])).toBe('pending');
    await page.waitForTimeout(350);
    await page.keyboard.down('a');
    for (let repeat = 0; repeat < 10; repeat++) await page.keyboard.down('a');
    await page.waitForSelector('text=/^Approved/');
    await page.keyboard.up('a');
    expect([await stateOf(ids[0]), await stateOf(ids[1])]).toEqual(['approved', 'pending']);
    await page.context().close();
  });

  test('a card that arrives moves nothing under the pointer', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: 'echo first' });
    const page = await signIn(setup.account.secret);
    await page.goto(`${base}/approvals/${body.approval.approvalId}`);
    await page.waitForSelector('.just-before >> text=/made no call|bash/');
    const before = await page.locator('.button-approve').boundingBox();
    await setup.account.call(setup.agentId, 'bash', { command: 'echo second' });
    await page.waitForSelector('.others >> text=echo second');
    expect(await page.locator('.button-approve').boundingBox()).toEqual(before);
    await page.context().close();
  });

  test('two people at once: one decides, and the other is told who', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: 'echo once' });
    const { approvalId } = body.approval;
    const { body: key } = await setup.account.send('POST', '/v1/keys', { name: 'other', scopes: ['read', 'approve'] });
    const pages = await Promise.all([signIn(setup.account.secret), signIn(key.secret)]);
    for (const page of pages) {
      await page.goto(`${base}/approvals/${approvalId}`);
      await page.waitForSelector('.button-approve');
    }
    await pages[0]?.waitForTimeout(350);
    await Promise.all(pages.map((page) => page.keyboard.press('a')));
    for (const page of pages) await page.waitForSelector('text=/^Approved.* by/');
    const endings = await Promise.all(pages.map((page) => page.textContent('.decision')));
    const mine = endings.filter((text) => text?.includes('by you'));
    const theirs = endings.filter((text) => /by key key_…[0-9a-f]{6}/.test(text ?? ''));
    expect([mine.length, theirs.length]).toEqual([1, 1]);
    const { body: audit } = await setup.account.send('GET', '/v1/audit?order=newest&kind=approval');
    expect(audit.audit.filter(({ action }: { action: string }) => action === 'approval.approved')).toHaveLength(1);
    await Promise.all(pages.map((page) => page.context().close()));
  });

  test('an approval that nobody decides in time is grey, and has no buttons', async () => {
    const { newPage, allow } = get();
    await using server = await startPlatform(['--server-time', 'approval=3s']);
    const base = server.url.replace('127.0.0.1', 'croft.localhost');
    allow(base);
    const { account, agentId } = await setUpAgent(server);
    const page = await newPage();
    await page.goto(base);
    await page.fill('#key', account.secret);
    await page.click('button[type=submit]');
    await page.waitForSelector('.live-live');
    const { body } = await account.call(agentId, 'bash', { command: 'echo late' });
    await page.goto(`${base}/approvals/${body.approval.approvalId}`);
    await page.waitForSelector('.approval-over >> text=Expired');
    expect(await page.locator('.button-approve').count()).toBe(0);
    expect((await account.approve(body.approval.approvalId)).status).toBe(409);
    await page.context().close();
  });

  test('an approval that somebody decides with the command line goes by itself', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: 'echo elsewhere' });
    const page = await signIn(setup.account.secret);
    await page.goto(`${base}/approvals/${body.approval.approvalId}`);
    await page.waitForSelector('.button-approve');
    using own = makeDirectory({ key: setup.account.secret });
    const env = {
      CROFT_SERVER: setup.account.url,
      CROFT_KEY_FILE: own.at('key'),
      XDG_CONFIG_HOME: own.path,
    };
    const denied = await runCroft(['approvals', 'deny', body.approval.approvalId, '--reason', 'not now'], { env });
    expect(denied).toMatchObject({ exitCode: 0 });
    await page.waitForSelector('.decision-denied >> text=not now');
    expect(await page.locator('.button-approve').count()).toBe(0);
    await page.context().close();
  });

  test('a key without the scope approve: no buttons, and the server refuses', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: 'echo x' });
    const { approvalId } = body.approval;
    const key = await setup.account.send('POST', '/v1/keys', { name: 'reader', scopes: ['read'] });
    const page = await signIn(key.body.secret);
    await page.goto(`${base}/approvals/${approvalId}`);
    await page.waitForSelector('text=You have no key that decides');
    expect(await page.locator('.button-approve').count()).toBe(0);
    const status = await page.evaluate(async (id) => {
      const headers = { 'croft-page': '1', 'content-type': 'application/json' };
      const sent = { method: 'POST', headers, body: JSON.stringify({ decision: 'approve' }) };
      return (await fetch(`/v1/approvals/${id}`, sent)).status;
    }, approvalId);
    expect(status).toBe(403);
    await page.context().close();
  });

  test('a page in the background notifies, and the notification leads to the card', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const page = await signIn(setup.account.secret);
    await page.context().grantPermissions(['notifications'], { origin: base });
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { get: () => true });
      const shown: { title: string; onclick?: () => void }[] = [];
      Object.assign(window, { shown });
      const Notification = function (this: { title: string }, title: string) {
        this.title = title;
        shown.push(this);
      };
      Object.assign(Notification, { permission: 'granted', prototype: { close() {} } });
      Object.assign(window, { Notification });
    });
    const { body } = await setup.account.call(setup.agentId, 'bash', { command: 'echo later' });
    await page.waitForFunction(() => (window as never as { shown: unknown[] }).shown.length === 1);
    await page.evaluate(() => (window as never as { shown: { onclick(): void }[] }).shown[0]?.onclick());
    await page.waitForURL(`${base}/approvals/${body.approval.approvalId}`);
    await page.context().close();
  });

  test('390 px: under the thumb, and no sideways scroll', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const { body } = await setup.account.call(setup.agentId, 'write', {
      file_path: 'a/very/long/path/to/a/file.md',
      content: 'x\n'.repeat(30),
    });
    const page = await signIn(setup.account.secret, { viewport: { width: 390, height: 780 } });
    for (const path of [
      '/',
      `/approvals/${body.approval.approvalId}`,
      `/workspaces/${setup.workspaceId}/files`,
      '/audit',
      `/agents/${setup.agentId}/fence`,
    ]) {
      await page.goto(base + path);
      await page.waitForSelector('main :is(h1, h2)', { state: 'attached' });
      const [scroll, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      expect([path, scroll]).toEqual([path, width]);
    }
    await page.goto(`${base}/approvals/${body.approval.approvalId}`);
    const box = await page.locator('.button-approve').boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect(box?.y).toBeGreaterThan(390);
    await page.context().close();
  });
}
