import { globSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { makeDirectory, startServer } from '../support/harness.ts';
import { addAccount, moveTo } from '../support/servers/installation.ts';
import { adminToken, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { hasToolchains } from '../support/toolchains.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());
const [faketime] = (await hasToolchains('faketime')) ? globSync('/usr/lib/*/faketime/libfaketime.so.1') : [];
const hourMs = 3_600_000;
const key = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url');

describe.skipIf(!postgres || !faketime)('a server whose clock is wrong', () => {
  test.each(['+3h', '-3h'])('by %s agrees with the other servers on what has expired', async (skew) => {
    using workspace = makeDirectory();
    const args = ['--workspace', workspace.path, '--database-url', await postgres!.createDatabase()];
    const env = { CROFT_ADMIN_TOKEN: adminToken, CROFT_KEYS: `pepper ${key()},k1 ${key()}` };
    await using right = await startServer(args, { env });
    const skewed = { LD_PRELOAD: faketime!, FAKETIME: skew, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    await using wrong = await startServer(args, { env: { ...env, ...skewed } });
    const here = await addAccount(right, 'ann');
    const there = moveTo(wrong, here);
    const { headers } = await there.send('GET', '/v1/account');
    const off = Date.parse(headers.get('date') ?? '') - Date.now();
    expect(Math.abs(off)).toBeGreaterThan(2 * hourMs);

    const sandbox = await here.newSandbox({ permissionMode: 'ask' });
    for (const [asked, decided] of [[here, there] as const, [there, here] as const]) {
      const workspaces = [{ name: 'w', workspaceId: await asked.newWorkspace() }];
      const agent = await asked.newAgent({ sandbox, workspaces });
      const input = { command: `echo ${asked === here}` };
      const { approval } = mustBe(202, await asked.call(agent, 'bash', input));
      expect(Math.abs(Date.parse(approval.expiresAt) - Date.now() - hourMs)).toBeLessThan(hourMs / 10);
      const seen = mustBe(200, await decided.send('GET', `/v1/approvals/${approval.approvalId}`)).approval;
      expect(seen.state).toBe('pending');
      mustBe(200, await decided.approve(approval.approvalId));
      const claim = { 'croft-approval': approval.approvalId };
      expect(mustBe(200, await asked.call(agent, 'bash', input, claim)).output).toBe(`${asked === here}\n`);
    }

    const expiresAt = new Date(Date.now() + hourMs).toISOString();
    const made = mustBe(201, await here.send('POST', '/v1/keys', { name: 'k', scopes: ['*'], expiresAt }));
    for (const server of [right, wrong])
      mustBe(200, await moveTo(server, { ...here, secret: made.secret }).send('GET', '/v1/account'));
    expect(wrong.output.stderr()).toMatch(/clock of this machine is 10\d+ s (ahead of|behind)/);
  });
});
