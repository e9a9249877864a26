import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { type Account, type Platform, startPlatform } from '../support/servers/platform.ts';
import { browserFlags } from './browser.ts';

export type PageFixture = Awaited<ReturnType<typeof openFixture>>;

/** Shorter than that of a test, so that a failure says what was waited for. */
const patienceMs = 20_000;

export interface AgentSetup {
  readonly account: Account;
  readonly agentId: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
}

/** One server and one browser for all tests. Whatever a page should not do is written down in `problems`. */
export async function openFixture(executablePath: string) {
  const platform = await startPlatform(['--approval-wait', '30']);
  const browser = await chromium.launch({ executablePath, args: browserFlags });
  const problems: string[] = [];
  const base = platform.url.replace('127.0.0.1', 'croft.localhost');

  const hosts = new Set([new URL(base).host]);

  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 760 }, ...options });
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`),
      );
    });
    context.setDefaultTimeout(patienceMs);
    const page = await context.newPage();
    page.on('pageerror', (error) => problems.push(String(error.stack)));
    page.on('console', (message) => {
      if (/policy/i.test(message.text())) problems.push(message.text());
    });
    page.on('request', (request) => {
      const { protocol, host } = new URL(request.url());
      if (protocol.startsWith('http') && !hosts.has(host)) problems.push(`another host: ${request.url()}`);
    });
    return page;
  }

  return {
    platform,
    browser,
    base,
    problems,
    newPage,
    /** Another server of ours, which a test has started. */
    allow: (address: string) => hosts.add(new URL(address).host),
    async signIn(secret: string, options?: BrowserContextOptions): Promise<Page> {
      const page = await newPage(options);
      await page.goto(base);
      await page.fill('#key', secret);
      await page.click('button[type=submit]');
      await page.waitForSelector('.shell');
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await platform[Symbol.asyncDispose]();
    },
  };
}

/** An account with one agent that works in one workspace. */
export async function setUpAgent(platform: Platform, sandbox: object = {}): Promise<AgentSetup> {
  const account = await platform.newAccount();
  const sandboxId = await account.newSandbox({ permissionMode: 'ask', ...sandbox }, 'careful');
  const workspaceId = await account.newWorkspace({}, 'notes');
  const workspaces = [{ name: 'notes', workspaceId }];
  const agentId = await account.newAgent({ sandbox: sandboxId, workspaces }, 'writer');
  return { account, agentId, sandboxId, workspaceId };
}

/** What a call answers once it may run. */
export async function callApproved({ account, agentId }: AgentSetup, tool: string, input: object) {
  const asked = await account.call(agentId, tool, input);
  if (asked.status !== 202) return asked;
  const { approvalId } = asked.body.approval;
  await account.approve(approvalId);
  return account.call(agentId, tool, input, { 'croft-approval': approvalId });
}

export async function pathsOf({ account, workspaceId }: AgentSetup): Promise<string[]> {
  const { body } = await account.send('GET', `/v1/workspaces/${workspaceId}/files?recursive=true`);
  return body.files.map(({ path }: { path: string }) => path);
}
