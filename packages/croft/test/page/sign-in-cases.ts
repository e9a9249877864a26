import { expect, test } from 'vitest';
import { type PageFixture, setUpAgent } from './page-fixture.ts';

export function signInCases(get: () => PageFixture): void {
  test('signed out: a sign-in, whatever the address', async () => {
    const { newPage, base } = get();
    const page = await newPage();
    for (const path of ['/', '/approvals/ap_1', '/workspaces/x/files']) {
      await page.goto(base + path);
      await page.waitForSelector('text=Sign in to Croft');
    }
    await page.context().close();
  });

  test('at 127.0.0.1 the page goes where no other app gets its cookie', async () => {
    const { newPage, platform, base, problems } = get();
    const page = await newPage();
    await page.goto(`${platform.url}/audit?kind=call`);
    await page.waitForURL(`${base}/audit?kind=call`);
    await page.waitForSelector('text=Sign in to Croft');
    // The first request was to the other name, as asked.
    problems.splice(
      0,
      problems.length,
      ...problems.filter((line) => !line.startsWith('another host: http://127.0.0.1')),
    );
    await page.context().close();
  });

  test('a wrong key: an error that says what to do, and no cookie', async () => {
    const { newPage, base } = get();
    const page = await newPage();
    await page.goto(base);
    await page.fill('#key', 'croft_wrong');
    await page.click('button[type=submit]');
    await page.waitForSelector('.failure:has-text("E_UNAUTHORIZED") >> text=This key opens no account here');
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  test('a key: Now, and nothing that a script could read or keep', async () => {
    const { signIn, platform } = get();
    const { account } = await setUpAgent(platform);
    const page = await signIn(account.secret);
    await page.waitForSelector('h1:has-text("Now")', { state: 'attached' });
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
    expect(stored).not.toContain(account.secret);
    await page.reload();
    await page.waitForSelector('.shell');
    await page.click('.menu summary');
    await page.click('text=Sign out');
    await page.waitForSelector('text=Sign in to Croft');
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  test('a sign-in link works once, and leaves the address', async () => {
    const { newPage, platform, base } = get();
    const { account } = await setUpAgent(platform);
    const { body } = await account.send('POST', '/v1/session/links');
    const page = await newPage();
    await page.goto(base + body.path);
    await page.waitForSelector('.shell');
    expect(page.url()).not.toContain('once');
    const other = await newPage();
    await other.goto(base + body.path);
    await other.waitForSelector('.failure >> text=E_UNAUTHORIZED');
    expect(other.url()).toBe(`${base}/`);
    await Promise.all([page.context().close(), other.context().close()]);
  });

  test('a key that is revoked ends the session, without a click', async () => {
    const { signIn, platform } = get();
    const { account } = await setUpAgent(platform);
    const { body } = await account.send('POST', '/v1/keys', { name: 'page', scopes: ['read'] });
    const page = await signIn(body.secret);
    await page.waitForSelector('.live-live');
    await account.send('DELETE', `/v1/keys/${body.key.keyId}`);
    await page.waitForSelector('text=Your session has ended');
    await page.context().close();
  });

  test('a key that only decides: approvals are there, and every other page says what is missing', async () => {
    const { signIn, platform, base } = get();
    const { account, agentId } = await setUpAgent(platform);
    const { body } = await account.send('POST', '/v1/keys', { name: 'decider', scopes: ['approve'] });
    const page = await signIn(body.secret);
    await page.waitForSelector('text=This key decides approvals, and sees nothing else');
    await account.call(agentId, 'bash', { command: 'echo decided' });
    await page.click('.waiting >> text=Look');
    await page.waitForSelector('.button-approve');
    for (const path of ['/workspaces', '/agents', '/machines', '/audit', '/keys', `/agents/${agentId}/fence`]) {
      await page.goto(base + path);
      await page.waitForSelector('text=This key may not see that');
      expect(await page.locator('.failure, .skeleton').count()).toBe(0);
    }
    await page.context().close();
  });

  test('no other page can frame this one', async () => {
    const { newPage, base, platform, problems } = get();
    const answer = await fetch(platform.url, { headers: { accept: 'text/html' } });
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const page = await newPage();
    await page.setContent(`<iframe src="${base}/"></iframe>`);
    await expect.poll(() => page.frames()[1]?.url()).toMatch(/^chrome-error/);
    problems.splice(0, problems.length, ...problems.filter((line) => !/fram/i.test(line)));
    await page.context().close();
  });
}
