import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { newPlace, type PageFixture, type Place, pathsOf } from './page-fixture.ts';

export function workspaceCases(get: () => PageFixture): void {
  const textOf = async ({ account, agentId }: Place, path: string) =>
    (await account.call(agentId, 'read', { file_path: path })).body.content as string | undefined;

  async function openPlace(path: string): Promise<{ place: Place; page: Page; root: string }> {
    const { platform, signIn, base } = get();
    const place = await newPlace(platform, { permissionMode: 'bypass' });
    const page = await signIn(place.account.secret);
    const root = `${base}/workspaces/${place.workspaceId}`;
    await page.goto(root + path);
    return { place, page, root };
  }

  const put = ({ account, workspaceId }: Place, path: string, bytes: Uint8Array<ArrayBuffer>) =>
    fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=${encodeURIComponent(path)}`, account.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${account.secret}` },
      body: bytes,
    });

  test('undo by keyboard: the file is as before; later work in the way is said', async () => {
    const { place, page } = await openPlace('/history');
    const { account, agentId } = place;
    await account.call(agentId, 'write', { file_path: 'a.md', content: 'one\n' });
    await account.call(agentId, 'bash', { command: 'echo two > a.md; echo b > b.md' });
    await page.waitForSelector('.moment >> nth=1');
    await page.keyboard.press('j');
    await page.waitForSelector('.panel >> text=b.md');
    await page.keyboard.press('u');
    await page.waitForSelector('dialog');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.moment-undone');
    expect(await pathsOf(place)).toEqual(['a.md']);
    expect(await textOf(place, 'a.md')).toContain('one');

    await account.call(agentId, 'bash', { command: 'echo three >> a.md' });
    await page.click('.moment:has-text("write") >> text=Undo');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('dialog .failure >> text=E_CONFLICT');
    await page.keyboard.press('Escape');
    expect(await textOf(place, 'a.md')).toContain('three');
    await page.context().close();
  });

  test('a snapshot is restored, and the restore is undone', async () => {
    const { place, page, root } = await openPlace('/snapshots');
    await place.account.call(place.agentId, 'write', { file_path: 'a.md', content: 'one\n' });
    await page.fill('input[aria-label="Name of the new snapshot"]', 'before');
    await page.click('text=Take a snapshot');
    await page.waitForSelector('.thing >> text=before');
    await place.account.call(place.agentId, 'bash', { command: 'rm a.md; echo b > b.md' });
    await page.click('text=Compare with now');
    await page.waitForSelector('.panel >> text=b.md');
    await page.click('.thing:has-text("before") >> button:has-text("Restore")');
    await page.click('dialog >> button:has-text("Restore")');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await pathsOf(place)).toEqual(['a.md']);
    await page.goto(`${root}/history`);
    await page.click('text=Undo last');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await pathsOf(place)).toEqual(['b.md']);
    await page.context().close();
  });

  test('files: 5 MB, binary, CRLF, not UTF-8, an image; 10,000 lines with the elements of one screen', async () => {
    const { place, page, root } = await openPlace('/files');
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index + 1}`);
    const files: Record<string, Uint8Array<ArrayBuffer>> = {
      'big.txt': new Uint8Array(Buffer.from('0123456789abcde\n'.repeat(330_000))),
      'binary.bin': new Uint8Array([1, 0, 2, 255]),
      'crlf.txt': new Uint8Array(Buffer.from('a\r\nb\r\n')),
      'latin.txt': new Uint8Array([0x47, 0xfc, 0x0a]),
      'many.txt': new Uint8Array(Buffer.from(lines.join('\n'))),
    };
    for (const [path, bytes] of Object.entries(files)) expect((await put(place, path, bytes)).status).toBe(201);
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
    const { place, page, root } = await openPlace('/files');
    const script = '<script>document.title = "ran"</script>';
    await put(place, 'evil.html', new Uint8Array(Buffer.from(`<html>${script}</html>`)));
    await put(
      place,
      'evil.svg',
      new Uint8Array(Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`)),
    );
    await put(place, '<img src=x onerror=alert(1)>\u202etxt', new Uint8Array(Buffer.from('x')));
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
      }, `/v1/workspaces/${place.workspaceId}/file?path=${path}`);
      expect(answer[0]).toContain('sandbox');
      expect(answer[1]).toMatch(/^attachment/);
      expect(answer[2]).not.toMatch(/html|svg/);
    }
    await page.context().close();
  });

  test('upload: a file is there; one of 100 MB that is stopped leaves nothing', async () => {
    const { place, page } = await openPlace('/files');
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
    expect(await pathsOf(place)).toEqual(['up.txt']);
    expect(await page.locator('.failure').count()).toBe(0);
    await page.context().close();
  });
}
