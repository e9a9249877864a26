import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { installBrowser } from '../packages/croft/test/page/browser.ts';
import { openFixture, type PageFixture } from '../packages/croft/test/page/page-fixture.ts';
import { fillAccount, type Showcase } from './screenshots/showcase.ts';
import { shrinkPng } from './screenshots/shrink-png.ts';

/** Pictures of every page, from a real server whose agents have really worked, into `docs/images`. */

const target = join(import.meta.dirname, '../docs/images');
const largestBytes = 100_000;

const looks = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 760 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 760 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 780 } },
} as const;

interface Shot {
  readonly name: string;
  /** Selector of the element that must be visible before the picture is taken. */
  readonly wait: string;
  path(showcase: Showcase): string;
  prepare?(page: Page): Promise<void>;
}

const shots: readonly Shot[] = [
  { name: 'now', path: () => '/', wait: '.call', prepare: openChange },
  { name: 'running', path: () => '/', wait: '.call-running', prepare: openRunning },
  { name: 'first-steps', path: () => '/?start=1', wait: '.steps-list' },
  { name: 'approval', path: ({ approvalId }) => `/approvals/${approvalId}`, wait: '.just-before li' },
  { name: 'files', path: ({ root }) => `${root}/files?path=src&file=src/greet.ts`, wait: '.code-line' },
  { name: 'history', path: ({ root }) => `${root}/history`, wait: '.moment', prepare: openStep },
  { name: 'snapshots', path: ({ root }) => `${root}/snapshots`, wait: '.thing' },
  { name: 'fence', path: ({ agentId }) => `/agents/${agentId}/fence`, wait: '.fence-table', prepare: askAboutCall },
  { name: 'machines', path: () => '/machines', wait: '.meter .sparkline polyline', prepare: readForAWhile },
  { name: 'audit', path: () => '/audit', wait: '.audit-row' },
  { name: 'keys', path: () => '/keys', wait: '.thing' },
  { name: 'terminal', path: ({ terminal }) => terminal, wait: 'text=Connected', prepare: useTerminal },
];

async function openChange(page: Page): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) < 640) return;
  await page.click('.call:has-text("edit"):has-text("greet.ts")');
  await page.waitForSelector('.panel .diff');
}

async function openRunning(page: Page): Promise<void> {
  await page.click('.call-running');
  await page.waitForSelector('.running .output');
}

/** A chart of a few readings is a line and no point. */
async function readForAWhile(page: Page): Promise<void> {
  await page.waitForTimeout(20_000);
}

async function openStep(page: Page): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) < 640) return;
  await page.click('.moment-what:has-text("edit"):has-text("greet.ts")');
  await page.waitForSelector('.panel .diff');
}

async function askAboutCall(page: Page): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) < 640) return;
  await page.fill('#try-command', 'npm publish');
  await page.click('text=What would happen?');
  await page.waitForSelector('.outlook');
  await page.locator('main').evaluate((main) => main.scrollTo(0, 0));
}

async function useTerminal(page: Page): Promise<void> {
  await page.keyboard.type('ls; cat src/greet.ts\n');
  await page.waitForTimeout(1500);
}

async function shootAll(fixture: PageFixture, showcase: Showcase): Promise<void> {
  const wanted = process.argv.slice(2);
  for (const [look, options] of Object.entries(looks)) {
    const page = await fixture.signIn(showcase.secret, { ...options, reducedMotion: 'reduce' });
    await page.waitForSelector('.live-live', { state: 'attached' });
    for (const shot of shots) {
      if (wanted.length > 0 && !wanted.includes(shot.name)) continue;
      await page.goto(fixture.base + shot.path(showcase));
      await page.waitForSelector(shot.wait);
      await shot.prepare?.(page);
      await page.waitForTimeout(400);
      const file = join(target, `${shot.name}-${look}.png`);
      const picture = shrinkPng(await page.screenshot({ animations: 'disabled' }));
      const size = picture.length;
      writeFileSync(file, picture);
      console.error(`${file} ${Math.round(size / 1000)} kB`);
      if (size > largestBytes) throw new Error(`${file} is larger than ${largestBytes} bytes`);
    }
    await page.context().close();
  }
}

const browser = installBrowser();
if (browser === undefined) throw new Error('this machine has no Chromium: install it, and try again');
mkdirSync(target, { recursive: true });
await using fixture = await openFixture(browser);
await shootAll(fixture, await fillAccount(fixture));
