import { expect, test } from 'vitest';
import { type PageFixture, setUpAgent } from './page-fixture.ts';

export function fenceCases(get: () => PageFixture): void {
  test('the fence says what calls do: each kind of call does what its cell says', async () => {
    const { platform, signIn, base } = get();
    const calls = [
      ['read', 'read', { file_path: 'a.md' }],
      // The one search that an agent without a sandbox has.
      ['search', 'glob', { pattern: '*' }],
      ['write', 'write', { file_path: 'b.md', content: 'b' }],
      ['run', 'bash', { command: 'true' }],
    ] as const;
    for (const permissionMode of ['ask', 'edit', 'bypass']) {
      const { account, agentId, workspaceId } = await setUpAgent(platform, { permissionMode });
      await account.send('PUT', `/v1/workspaces/${workspaceId}/file?path=a.md`, 'x');
      const readOnly = await account.newAgent({ workspaces: [{ name: 'notes', workspaceId }] }, 'reader');
      const page = await signIn(account.secret);
      for (const agent of [agentId, readOnly]) {
        await page.goto(`${base}/agents/${agent}/fence`);
        await page.waitForSelector('.fence-table tbody tr');
        const cells = await page.locator('.fence-table tbody td:has(.verdict-mark)').allTextContents();
        // A cell says what its kind of call does, and which tools do something else.
        const words = cells.map((text, index) => {
          const [, tool = ''] = calls[index] ?? [];
          return new RegExp(`\\b${tool}: (\\w+)`).exec(text)?.[1] ?? /(?:runs|asks|no)/.exec(text)?.[0];
        });
        const done = [];
        for (const [, tool, input] of calls) {
          const { status } = await account.call(agent, tool, input);
          done.push(status === 200 ? 'runs' : status === 202 ? 'asks' : 'no');
        }
        expect({ permissionMode, agent, words }).toEqual({ permissionMode, agent, words: done });
      }
      await page.context().close();
    }
  });

  test('a violation: the row says that the fence refused it, and the panel why and how to allow it', async () => {
    const { platform, signIn } = get();
    const { account, agentId } = await setUpAgent(platform, {
      permissionMode: 'bypass',
      network: { mode: 'restricted' },
    });
    const page = await signIn(account.secret);
    await page.waitForSelector('.live-live');
    await account.call(agentId, 'bash', { command: 'curl -sS --max-time 5 http://registry.example.org/' });
    await page.click('.call-violation >> text=network');
    await page.waitForSelector('.violation >> text=The fence refused registry.example.org');
    expect(await page.textContent('.violation')).toMatch(/To allow it: .*allow/i);
    await page.context().close();
  });
}
