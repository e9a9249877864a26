import { expect, test } from 'vitest';
import { startServer } from '../support/harness.ts';
import type { PageFixture } from './page-fixture.ts';

export function firstMinuteCases(get: () => PageFixture): void {
  test('the link of npm start: write, run, see both, undo, and take the configuration along', async () => {
    const { newPage, allow } = get();
    await using server = await startServer(['--demo']);
    const link = await server.output.find(/(http:\/\/croft\.localhost\S+#once=\S+)/);
    allow(new URL(link).origin);
    const page = await newPage();
    await page.goto(link);
    await page.waitForSelector('.steps >> text=Write a file');
    await page.click('button:has-text("Write")');
    await page.waitForSelector('.output >> text=Written');
    await page.click('.step button:has-text("Run")');
    await page.waitForSelector('.output >> text=Hello from a person.');
    await page.waitForSelector('.call-ran:has-text("hello.txt"):has-text("write")');
    await page.waitForSelector('.call-ran:has-text("bash")');
    await page.click('text=Undo the write');
    await page.click('dialog >> button:has-text("Undo")');
    await page.waitForSelector('text=Undone');
    await page.waitForSelector('.call-change:has-text("undo")');
    const configuration = await page.textContent('.connect pre');
    expect(configuration).toContain(`${server.url}/mcp`);
    await page.goto(`${new URL(link).origin}/workspaces/demo/files`);
    await page.waitForSelector('.entry >> text=hello.js');
    expect(await page.locator('.entry >> text=hello.txt').count()).toBe(0);
    // What flags made cannot be changed here: no keys, no runners.
    await page.click('.menu summary');
    expect(await page.locator('.menu >> text=Keys').count()).toBe(0);
    await page.context().close();
  });
}
