import { afterAll, beforeAll } from 'vitest';
import { type Account, type Platform, startPlatform } from '../support/servers/platform.ts';

/** Shared by all tests of the file that imports this. */
export let platform: Platform;
export let account: Account;

beforeAll(async () => {
  platform = await startPlatform(['--approval-wait', '20']);
  account = await platform.newAccount();
});

afterAll(() => platform[Symbol.asyncDispose]());

export async function newAgent(permissionMode: string, names = ['w']) {
  const sandboxId = await account.newSandbox({ permissionMode });
  const workspaces = [];
  for (const name of names) workspaces.push({ name, workspaceId: await account.newWorkspace() });
  return { sandboxId, workspaces, agentId: await account.newAgent({ sandbox: sandboxId, workspaces }) };
}
