import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { type AgentSetup, type PageFixture, pathsOf, setUpAgent } from './page-fixture.ts';

export function workspaceCases(get: () => PageFixture): void {
  const textOf = async ({ account, agentId }: AgentSetup, path: string) =>
    (await account.call(agentId, 'read', { file_path: path })).body.content as string | undefined;

  async function openWorkspacePage(path: string): Promise<{ setup: AgentSetup; page: Page; root: string }> {
    const { platform, signIn, base } = get();
    const setup = await setUpAgent(platform, { permissionMode: 'bypass' });
    const page = await signIn(setup.account.secret);
    const root = `${base}/workspaces/${setup.workspaceId}`;
    await page.goto(root + path);
    return { setup, page, root };
  }

  const put = ({ account, workspaceId }: AgentSetup, path: string, bytes: Uint8Array<ArrayBuffer>) =>
    fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=${encodeURIComponent(path)}`, account.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${account.secret}` },
      body: bytes,
    });

  test('undo by keyboard: the file is as before; later work in the way is said', async () => {
    const { setup, page } = await openWorkspacePage('/history');
    const { account, agentId } = setup;
    await account.call(agentId, 'write', { file_path: 'a.md', content: 'one\n' });
    await account.call(agentId, 'bash', { command: 'echo two > a.md; echo b > b.md' });
    await page.waitForSelector('.moment >> nth=1');
    await page.keyboard.press('j');
    await page.waitForSelector('.panel >> text=b.md');
    await page.keyboard.press('u');
    await page.waitForSelector('dialog');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.moment-undone');
    expect(await pathsOf(setup)).toEqual(['a.md']);
    expect(await textOf(setup, 'a.md')).toContain('one');

    await account.call(agentId, 'bash', { command: 'echo three >> a.md' });
    await page.click('.moment:has(.call-tool:text-is("write")) >> text=Undo');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('dialog .failure >> text=E_CONFLICT');
    await page.keyboard.press('Escape');
    expect(await textOf(setup, 'a.md')).toContain('three');
    await page.context().close();
  });

  test('a snapshot is restored, and the restore is undone', async () => {
    const { setup, page, root } = await openWorkspacePage('/snapshots');
    await setup.account.call(setup.agentId, 'write', { file_path: 'a.md', content: 'one\n' });
    await page.fill('input[aria-label="Name of the new snapshot"]', 'before');
    await page.click('text=Take a snapshot');
    await page.waitForSelector('.thing >> text=before');
    await setup.account.call(setup.agentId, 'bash', { command: 'rm a.md; echo b > b.md' });
    await page.click('text=Compare with now');
    await page.waitForSelector('.panel >> text=b.md');
    await page.click('.thing:has-text("before") >> button:has-text("Restore")');
    await page.click('dialog >> button:has-text("Restore")');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await pathsOf(setup)).toEqual(['a.md']);
    await page.goto(`${root}/history`);
    await page.click('text=Undo last');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await pathsOf(setup)).toEqual(['b.md']);
    await page.context().close();
  });

  test('files: 5 MB, binary, CRLF, not UTF-8, an image; 10,000 lines with the elements of one screen', async () => {
    const { setup, page, root } = await openWorkspacePage('/files');
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index + 1}`);
    const files: Record<string, Uint8Array<ArrayBuffer>> = {
      'big.txt': new Uint8Array(Buffer.from('0123456789abcde\n'.repeat(330_000))),
      'binary.bin': new Uint8Array([1, 0, 2, 255]),
      'crlf.txt': new Uint8Array(Buffer.from('a\r\nb\r\n')),
      'latin.txt': new Uint8Array([0x47, 0xfc, 0x0a]),
      'many.txt': new Uint8Array(Buffer.from(lines.join('\n'))),
    };
    for (const [path, bytes] of Object.entries(files)) expect((await put(setup, path, bytes)).status).toBe(201);
    const shows = async (path: string, words: string) => {
      await page.goto(`${root}/files?file=${path}`);
      await page.waitForSelector(`.file-view >> text=${words}`);
    };
    await shows('big.txt', 'The beginning of 5.0 MiB');
    await shows('binary.bin', 'This file is binary');
    await shows('crlf.txt', 'CRLF');
    await shows('latin.txt', 'not UTF-8');
    await shows('many.txt', 'line 1');
    await page.locator('.file-view .list').evaluate((list) => list.scrollTo(0, list.scrollHeight));
    await page.waitForSelector('text=line 10000');
    expect(await page.locator('.file-view .list-row').count()).toBeLessThanOrEqual(80);
    await page.context().close();
  });

  test('HTML and SVG with scripts are text, and a download at most', async () => {
    const { setup, page, root } = await openWorkspacePage('/files');
    const script = '<script>document.title = "ran"</script>';
    await put(setup, 'evil.html', new Uint8Array(Buffer.from(`<html>${script}</html>`)));
    await put(
      setup,
      'evil.svg',
      new Uint8Array(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`)),
    );
    await put(setup, '<img src=x onerror=alert(1)>\u202etxt', new Uint8Array(Buffer.from('x')));
    await page.goto(`${root}/files`);
    await page.waitForSelector('.entry >> text=U+202E');
    for (const path of ['evil.html', 'evil.svg']) {
      await page.goto(`${root}/files?file=${path}`);
      await page.waitForSelector('.file-view >> text=document.title');
      expect(await page.title()).not.toContain('ran');
      const answer = await page.evaluate(async (address) => {
        const { headers } = await fetch(address, { headers: { 'croft-page': '1' } });
        return [
          headers.get('content-security-policy'),
          headers.get('content-disposition'),
          headers.get('content-type'),
        ];
      }, `/v1/workspaces/${setup.workspaceId}/file?path=${path}`);
      expect(answer[0]).toContain('sandbox');
      expect(answer[1]).toMatch(/^attachment/);
      expect(answer[2]).not.toMatch(/html|svg/);
    }
    await page.context().close();
  });

  test('upload: a file is there; one of 100 MB that is stopped leaves nothing', async () => {
    const { setup, page } = await openWorkspacePage('/files');
    const choose = (name: string, buffer: Buffer) =>
      page.setInputFiles('input[type=file]', { name, mimeType: 'text/plain', buffer });
    await choose('up.txt', Buffer.from('uploaded\n'));
    await page.waitForSelector('.entry >> text=up.txt');
    // Made in the page, because files that a test gives may have 50 MB.
    await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(100 * 1024 * 1024 - 1)], 'huge.bin'));
      const field = document.querySelector<HTMLInputElement>('input[type=file]');
      if (!field) return;
      field.files = transfer.files;
      field.dispatchEvent(new Event('change', { bubbles: true }));
      document.querySelector('.toolbar')?.getBoundingClientRect();
      requestAnimationFrame(() =>
        [...document.querySelectorAll('button')]
          .find(({ textContent }) => textContent?.includes('Stop huge.bin'))
          ?.click(),
      );
    });
    await page.waitForSelector('button:has-text("Upload")');
    expect(await pathsOf(setup)).toEqual(['up.txt']);
    expect(await page.locator('.failure').count()).toBe(0);
    await page.context().close();
  });
}
