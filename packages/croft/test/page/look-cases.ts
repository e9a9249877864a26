import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { callApproved, type PageFixture, setUpAgent } from './page-fixture.ts';

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** What axe finds, as one line for each kind. */
async function findBarriers(page: Page): Promise<string[]> {
  // The policy of the page refuses scripts that are not its own; DevTools may evaluate them.
  await page.evaluate(readFileSync(axe, 'utf8'));
  return page.evaluate(async () => {
    const { axe: checker } = window as never as { axe: { run(options: object): Promise<{ violations: never[] }> } };
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await checker.run({ runOnly: tags });
    return violations.map(({ id, nodes }: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
      [id, nodes[0]?.html.slice(0, 160), nodes[0]?.failureSummary].join(' | '),
    );
  });
}

export function lookCases(get: () => PageFixture): void {
  test.each(['light', 'dark'] as const)('axe finds no barrier on any page, %s', async (colorScheme) => {
    const { platform, signIn, base, newPage } = get();
    const setup = await setUpAgent(platform);
    const { account, agentId, workspaceId } = setup;
    await callApproved(setup, 'write', { file_path: 'src/a.ts', content: 'export const a = 1;\n' });
    await callApproved(setup, 'write', { file_path: 'src/a.ts', content: 'export const a = 2;\n' });
    await account.send('POST', `/v1/workspaces/${workspaceId}/snapshots`, { name: 'first' });
    const { body } = await account.call(agentId, 'bash', { command: 'echo \u202e' });
    const { body: history } = await account.send('GET', `/v1/workspaces/${workspaceId}/checkpoints`);
    const [checkpoint] = history.checkpoints;
    const root = `/workspaces/${workspaceId}`;
    const page = await signIn(account.secret, { colorScheme, reducedMotion: 'reduce' });
    const pages: Readonly<Record<string, string>> = {
      '/': '.call',
      '/?start=1': '.steps-list',
      [`/approvals/${body.approval.approvalId}`]: '.button-approve',
      '/workspaces': '.thing',
      [`${root}/files`]: '.entry',
      [`${root}/files?path=src&file=src/a.ts`]: '.code-line',
      [`${root}/history`]: '.moment',
      [`${root}/history?checkpoint=${checkpoint.checkpointId}`]: '.panel .diff',
      [`${root}/snapshots?compare=first`]: '.panel .empty',
      '/agents': '.thing',
      [`/agents/${agentId}/calls`]: '.call',
      [`/agents/${agentId}/fence`]: '.fence-table',
      [`/agents/${agentId}/sessions`]: '.thing',
      '/machines': '.machine',
      '/audit': '.audit-row',
      '/keys': '.thing',
      '/terminal': 'text=Open',
      '/nothing-here': 'text=There is nothing at this address',
    };
    const found: Record<string, string[]> = {};
    for (const [path, wait] of Object.entries(pages)) {
      await page.goto(base + path.replace('/nothing-here', '/workspaces/a/b/c'));
      await page.waitForSelector(wait);
      const barriers = await findBarriers(page);
      if (barriers.length > 0) found[path] = barriers;
    }
    await page.click('.menu summary');
    found.menu = await findBarriers(page);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette-list [role=option]');
    found.palette = await findBarriers(page);
    const signedOut = await newPage({ colorScheme });
    await signedOut.goto(base);
    await signedOut.waitForSelector('#key');
    found.signIn = await findBarriers(signedOut);
    expect(Object.fromEntries(Object.entries(found).filter(([, barriers]) => barriers.length > 0))).toEqual({});
    await Promise.all([page.context().close(), signedOut.context().close()]);
  });

  test('by keyboard alone: to a workspace by Ctrl K, and back where the focus was', async () => {
    const { platform, signIn, base } = get();
    const { account, workspaceId } = await setUpAgent(platform);
    const page = await signIn(account.secret);
    await page.waitForSelector('.toolbar');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Find a call');
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Find a call');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('notes h');
    await page.waitForSelector('.palette-list >> text=notes history');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${base}/workspaces/${workspaceId}/history`);
    await page.waitForFunction(() => document.activeElement?.id === 'main');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog >> text=approve this call once');
    await page.context().close();
  });
}
