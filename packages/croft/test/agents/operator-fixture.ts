import { readFileSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { Installation } from '../support/servers/installation.ts';
import { type Account, mustBe, openAccount } from '../support/servers/platform.ts';

export const hidden = {
  environment: 'value-of-an-environment-variable',
  secret: 'value-of-a-stored-secret',
  domain: 'internal-name.example.test',
  command: 'echo text-of-a-command-that-was-asked-for',
};

/** Fills an account with one of every sealed record. */
export async function addSealedRecords(account: Account) {
  const config = {
    permissionMode: 'bypass',
    envVars: { HIDDEN: hidden.environment },
    network: { mode: 'restricted', allowDomains: [hidden.domain] },
  };
  const sandbox = await account.newSandbox(config);
  const workspaceId = await account.newWorkspace();
  const workspaces = [{ name: 'w', workspaceId }];
  const agent = await account.newAgent({ sandbox, workspaces });
  const careful = await account.newAgent({ sandbox: await account.newSandbox({ permissionMode: 'ask' }), workspaces });
  mustBe(200, await account.send('PUT', '/v1/secrets/deploy', { value: hidden.secret }));
  const { approval } = mustBe(202, await account.call(careful, 'bash', { command: hidden.command }));
  const makeKey = (on: Account) =>
    on.send('POST', '/v1/keys', { name: 'other', scopes: ['read'] }, { 'idempotency-key': 'once' });
  const { secret } = mustBe(201, await makeKey(account));
  return { sandbox, agent, careful, approvalId: approval.approvalId as string, makeKey, secret: secret as string };
}

type SealedRecords = Awaited<ReturnType<typeof addSealedRecords>>;

/** Checks that every sealed record can still be used. */
export async function expectAllUsable(
  account: Account,
  { agent, careful, approvalId, makeKey, secret }: SealedRecords,
) {
  const { sandboxes } = mustBe(200, await account.send('GET', '/v1/sandboxes'));
  expect(sandboxes).toHaveLength(2);
  const command = `[ "$HIDDEN" = ${hidden.environment} ] && echo as it was`;
  expect(mustBe(200, await account.call(agent, 'bash', { command })).output).toBe('as it was\n');
  const { approval } = mustBe(200, await account.send('GET', `/v1/approvals/${approvalId}`));
  expect(approval).toMatchObject({ state: 'pending', input: { command: hidden.command }, preview: hidden.command });
  expect((await account.call(careful, 'bash', { command: hidden.command })).body.approval.approvalId).toBe(approvalId);
  const redacted = mustBe(200, await account.call(agent, 'bash', { command: `echo ${hidden.secret}` }));
  expect(redacted.output).not.toContain(hidden.secret);
  const replayed = await makeKey(account);
  expect(mustBe(201, replayed).secret).toBe(secret);
  mustBe(200, await openAccount(account.url, secret, '').send('GET', '/v1/account'));
}

const sealedColumns = {
  agents: 'config',
  sandboxes: 'config',
  workspaces: 'config',
  secrets: 'value',
  approvals: 'content',
};

export function readSealed(ownInstallation: Installation): string[] {
  using database = new DatabaseSync(ownInstallation.at('croft.db'));
  return Object.entries(sealedColumns).flatMap(([table, column]) => {
    const rows = database.prepare(`SELECT ${column} AS sealed FROM ${table}`).all();
    expect(rows.length).toBeGreaterThan(0);
    return rows.map(({ sealed }) => String(sealed));
  });
}

export const keyIds = (ownInstallation: Installation) =>
  [...readFileSync(ownInstallation.at('keys'), 'utf8').matchAll(/^(k\w+) /gm)].map(([, id]) => id);
export const expectPrivate = (path: string) =>
  expect({ path, mode: statSync(path).mode & 0o777 }).toEqual({ path, mode: 0o600 });
