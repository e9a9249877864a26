import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';
import { adminToken } from '../support/servers/platform.ts';
import type { PageFixture } from './page-fixture.ts';

export function auditCases(get: () => PageFixture): void {
  test('an altered row of the trail is named', async () => {
    const { newPage, allow } = get();
    using workspace = makeDirectory();
    await using server = await startServer(['--workspace', workspace.path], { env: { CROFT_ADMIN_TOKEN: adminToken } });
    const base = server.url.replace('127.0.0.1', 'croft.localhost');
    allow(base);
    const page = await newPage();
    await page.goto(base);
    await page.fill('#key', adminToken);
    await page.click('button[type=submit]');
    await page.click('.steps .button:has-text("Write")');
    await page.waitForSelector('.call-ran >> text=hello.txt');
    await page.goto(`${base}/audit`);
    await page.click('text=Check the chain');
    await page.waitForSelector('.chain-whole >> text=/The trail is whole/');
    const file = join(server.data, 'local-audit', '00000001.jsonl');
    const text = readFileSync(file, 'utf8');
    const { sequence } = JSON.parse(text.split('\n')[1] ?? '');
    writeFileSync(file, text.replace('"target":"write"', '"target":"erase"'));
    await page.click('text=Check the chain');
    await page.waitForSelector(`.chain-broken >> text=/broken at row ${sequence}/`);
    expect(await page.locator('.chain-whole').count()).toBe(0);
    await page.context().close();
  });
}
