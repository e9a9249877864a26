import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { browserFlags, installBrowser } from '../packages/croft/test/page/browser.ts';
import { type Bench, type Row, type Say, toRow } from './bench.ts';
import { atMost } from './goals.ts';
import { startPageServer } from './page-server.ts';
import { summarize } from './statistics.ts';

type PageServer = Awaited<ReturnType<typeof startPageServer>>;

const rounds = 10;
const seconds = 60;
const perSecond = 200;

/** Measures how long a person waits for the page, and what a busy day costs their browser. */
export const page: Bench = {
  name: 'page',
  async run(say) {
    const executablePath = installBrowser();
    if (executablePath === undefined) throw new Error('this machine has no Chromium');
    using server = await startPageServer();
    const browser = await chromium.launch({ executablePath, args: browserFlags });
    try {
      return { rows: [...(await measureLoads(browser, server, say)), ...(await measureEvents(browser, server, say))] };
    } finally {
      await browser.close();
    }
  },
};

/** Cold: a browser profile that has never been here. */
async function measureLoads(browser: Browser, server: PageServer, say: Say): Promise<Row[]> {
  const [usable, bytes, requests]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    say(`first load ${round + 1} of ${rounds}`);
    const context = await browser.newContext();
    const opened = await context.newPage();
    await opened.goto(server.url);
    await opened.waitForSelector('.toolbar');
    const loaded = await opened.evaluate(() => {
      const files = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
      const own = files.filter(({ name }) => name.includes('/assets/'));
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      return {
        ms: paint?.startTime ?? 0,
        bytes: own.reduce((sum, { transferSize }) => sum + transferSize, 0),
        files: own.length + 1,
      };
    });
    usable.push(loaded.ms);
    bytes.push(loaded.bytes / 1000);
    requests.push(loaded.files);
    await context.close();
  }
  return [
    toRow({ what: 'page: first load, cold, until it is painted', ours: summarize(usable), goal: atMost(300, 'ms') }),
    toRow({ what: 'page: JavaScript and CSS of it', unit: 'kB', ours: summarize(bytes), goal: atMost(72, 'kB') }),
    toRow({ what: 'page: requests of it', unit: '', ours: summarize(requests), goal: atMost(5, '') }),
  ];
}

async function measureEvents(browser: Browser, server: PageServer, say: Say): Promise<Row[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 760 } });
  const opened = await context.newPage();
  await opened.goto(server.url);
  await opened.waitForSelector('.live-live');
  while (!server.isFollowed()) await pause(20);
  await opened.evaluate(() => {
    const longest = { ms: 0 };
    Object.assign(window, { longest });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest.ms = Math.max(longest.ms, duration);
    }).observe({ entryTypes: ['longtask'] });
  });
  say('10,000 rows');
  const burst = await measureBurst(opened, server);
  say(`${perSecond} events a second for ${seconds} s`);
  const startedAt = performance.now();
  for (let sent = 0; sent < seconds * perSecond; sent += perSecond / 20) {
    server.emit(perSecond / 20);
    await pause(Math.max(0, startedAt + ((sent + perSecond / 20) * 1000) / perSecond - performance.now()));
  }
  await pause(500);
  const longest = await readLongest(opened);
  const session = await context.newCDPSession(opened);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await context.close();
  const one = (value: number) => summarize([value]);
  return [
    toRow({
      what: 'page: elements of the list with 10,000 rows',
      unit: '',
      ours: one(burst.rows),
      goal: atMost(80, ''),
    }),
    toRow({ what: 'page: a row that comes to 10,000 is on the screen', ours: summarize(burst.shownMs) }),
    toRow({ what: 'page: longest task in a minute of 200 events/s', ours: one(longest), goal: atMost(50, 'ms') }),
    toRow({ what: 'page: heap after it', unit: 'MB', ours: one(usedSize / 1e6), goal: atMost(80, 'MB') }),
  ];
}

async function measureBurst(opened: Page, server: PageServer) {
  for (let sent = 0; sent < 10_000; sent += 200) {
    server.emit(200);
    await pause(20);
  }
  const shownMs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const first = await opened.locator('.call').first().getAttribute('data-call');
    const startedAt = performance.now();
    server.emit(1);
    await opened.waitForFunction(
      (before) => document.querySelector('.call')?.getAttribute('data-call') !== before,
      first,
    );
    shownMs.push(performance.now() - startedAt);
  }
  return { rows: await opened.locator('.list-row').count(), shownMs };
}

function readLongest(opened: Page): Promise<number> {
  return opened.evaluate(() => (window as never as { longest: { ms: number } }).longest.ms);
}
