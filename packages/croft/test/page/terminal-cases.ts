import { expect, test } from 'vitest';
import { startRunnerWithCable } from '../remote/runner-with-cable.ts';
import { installVim } from './browser.ts';
import { type PageFixture, setUpAgent } from './page-fixture.ts';

const vim = installVim();

export function terminalCases(get: () => PageFixture): void {
  test('a terminal: typed and printed, resized, 10 MB, and after a reload the same screen', async () => {
    const { platform, signIn, base } = get();
    const { account, workspaceId, sandboxId } = await setUpAgent(platform);
    const page = await signIn(account.secret);
    await page.goto(`${base}/terminal?workspace=${workspaceId}&sandbox=${sandboxId}`);
    await page.waitForSelector('text=Connected');
    const type = async (text: string) => {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    const shows = (text: string) =>
      page.waitForFunction((wanted) => document.querySelector('.xterm-rows')?.textContent?.includes(wanted), text);
    await type('echo a$((40+2))b');
    await shows('a42b');
    await type('yes 0123456789abcde | head -c 10000000 | tail -c 16; echo e$((40+3))d');
    await shows('e43d');
    await page.setViewportSize({ width: 800, height: 500 });
    const columns = () => page.evaluate(() => document.querySelector('.xterm-rows')?.children.length);
    await expect.poll(columns).toBeLessThan(30);
    await type(`stty size | sed 's/^/size /'`);
    await shows(`size ${await columns()}`);
    await page.reload();
    await page.waitForSelector('text=Connected');
    await shows('e43d');
    await type('exit 7');
    await page.waitForSelector('text=The shell ended with 7');
    await page.context().close();
  });

  test.skipIf(!vim)(
    'vim: it draws, is resized, comes back after a reload, and what it saves is in the file',
    async () => {
      const { platform, signIn, base } = get();
      const { account, workspaceId, sandboxId } = await setUpAgent(platform);
      await account.send('PUT', `/v1/workspaces/${workspaceId}/file?path=note.txt`, 'first line\n');
      const page = await signIn(account.secret);
      await page.goto(`${base}/terminal?workspace=${workspaceId}&sandbox=${sandboxId}`);
      await page.waitForSelector('text=Connected');
      const { keyboard } = page;
      const shows = (rows: { first: string; last: string; count?: number }) =>
        page.waitForFunction(({ first, last, count }) => {
          const lines = [...(document.querySelector('.xterm-rows')?.children ?? [])].map(
            (row) => row.textContent ?? '',
          );
          // Every line between the text and the status is vim's mark for no line.
          const isDrawn = lines.slice(2, -1).every((line) => line.trim() === '~');
          const isThere = lines[0]?.includes(first) && lines.at(-1)?.includes(last);
          return isDrawn && isThere && (count === undefined || lines.length < count);
        }, rows);
      await keyboard.type(`${vim} -u NONE -N note.txt\n`);
      await shows({ first: 'first line', last: 'note.txt' });
      await keyboard.type('osecond line');
      await shows({ first: 'first line', last: '-- INSERT --' });
      await page.setViewportSize({ width: 800, height: 480 });
      await shows({ first: 'first line', last: '-- INSERT --', count: 26 });
      await page.reload();
      await page.waitForSelector('text=Connected');
      await shows({ first: 'first line', last: '-- INSERT --' });
      await keyboard.press('Escape');
      await keyboard.type(':wq\n');
      const saved = () =>
        fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=note.txt`, account.url), {
          headers: { authorization: `Bearer ${account.secret}` },
        }).then((answer) => answer.text());
      await expect.poll(saved).toBe('first line\nsecond line\n');
      await page.context().close();
    },
  );

  test('a runner that is cut off and comes back: the terminal goes on', async () => {
    const { newPage, allow } = get();
    await using far = await startRunnerWithCable();
    const base = far.platform.url.replace('127.0.0.1', 'croft.localhost');
    allow(base);
    const { account, sandboxId, workspaceId } = far.remote;
    const page = await newPage();
    await page.goto(base);
    await page.fill('#key', account.secret);
    await page.click('button[type=submit]');
    await page.waitForSelector('.shell');
    await page.goto(`${base}/terminal?workspace=${workspaceId}&sandbox=${sandboxId}`);
    await page.waitForSelector('text=Connected');
    const shows = (text: string) =>
      page.waitForFunction((wanted) => document.querySelector('.xterm-rows')?.textContent?.includes(wanted), text);
    await page.keyboard.type('kept=$((40+2)); echo a$kept\n');
    await shows('a42');
    const connections = far.cable.count();
    far.cable.cut();
    await page.keyboard.type('echo b$kept\n');
    await shows('b42');
    expect(far.cable.count()).toBeGreaterThan(connections);
    await page.context().close();
  });

  test('nothing in an address is typed', async () => {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform);
    const page = await signIn(setup.account.secret);
    await page.goto(
      `${base}/terminal?workspace=${setup.workspaceId}&sandbox=${setup.sandboxId}&command=touch%20typed%0a&input=touch%20typed`,
    );
    await page.waitForSelector('text=Connected');
    await page.waitForFunction(() => (document.querySelector('.xterm-rows')?.textContent ?? '').trim() !== '');
    expect(await page.textContent('.xterm-rows')).not.toContain('touch');
    await page.context().close();
  });
}
