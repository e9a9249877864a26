import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  type Account,
  type Json,
  mustBe,
  openAccount,
  type Platform,
  startPlatform,
} from '../support/servers/platform.ts';
import { connectTerminal, newTicket, type TerminalTarget } from '../terminals/fixture.ts';

let platform: Platform;
let account: Account;
let terminalTarget: TerminalTarget;
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount('people');
  terminalTarget = {
    sandboxId: await account.newSandbox({ permissionMode: 'ask' }),
    workspaceId: await account.newWorkspace(),
  };
});
afterAll(() => platform[Symbol.asyncDispose]());

async function newKey(scopes: readonly string[]) {
  const { key, secret } = mustBe(201, await account.send('POST', '/v1/keys', { name: scopes.join('-'), scopes }));
  return { keyId: key.keyId as string, ...openAccount(platform.url, secret, account.accountId) };
}

async function terminalRows(): Promise<Json[]> {
  const { audit } = mustBe(200, await account.send('GET', '/v1/audit?limit=200'));
  const rows: Json[] = audit.filter(({ action }: Json) => action.startsWith('terminal.'));
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) }));
}

test.each([[['call']], [['call', 'read', 'write', 'approve']]])(
  'a key of %s, as models have it, opens no terminal: not in any sandbox, and not by naming an open one',
  async (scopes) => {
    const before = await terminalRows();
    using screen = connectTerminal(platform.url, (await newTicket(account, terminalTarget)).path);
    const { terminal } = (await screen.untilMessage('attached')) as { terminal: string };
    const model = await newKey(scopes);
    for (const more of [{}, { terminal }, { terminal, from: 0 }]) {
      const body = { workspaceId: terminalTarget.workspaceId, ...more };
      const refused = await model.send('POST', `/v1/sandboxes/${terminalTarget.sandboxId}/terminals`, body);
      expect([refused.status, refused.body.error.code]).toEqual([403, 'E_FORBIDDEN']);
      expect(refused.body.error.message).toContain('scope terminal');
    }
    // Nor a key that does.
    const wider = await model.send('POST', '/v1/keys', { name: 'wider', scopes: ['terminal'] });
    expect(wider.status).toBe(403);
    expect((await terminalRows()).length).toBe(before.length + 1);
  },
);

test('opening and closing a terminal are audit rows with actor, sandbox, workspace, and the reason of the end', async () => {
  const person = await newKey(['terminal']);
  const rowsOf = async (terminal: string) =>
    (await terminalRows()).filter(({ details }) => details.terminal === terminal);
  const open = async () => {
    const screen = connectTerminal(platform.url, (await newTicket(person, terminalTarget)).path);
    const { terminal } = (await screen.untilMessage('attached')) as { terminal: string };
    return { screen, terminal };
  };
  const about = { actor: `key ${person.keyId}`, target: terminalTarget.sandboxId };
  const untilClosed = (terminal: string, how: object) =>
    vi.waitFor(async () =>
      expect(await rowsOf(terminal)).toMatchObject([
        { ...about, action: 'terminal.opened', details: { workspaceId: terminalTarget.workspaceId } },
        { ...about, action: 'terminal.closed', details: { workspaceId: terminalTarget.workspaceId, ...how } },
      ]),
    );

  const [left, closed, revoked] = [await open(), await open(), await open()];
  expect(await rowsOf(left.terminal)).toMatchObject([{ ...about, action: 'terminal.opened' }]);
  left.screen.type('exit 7\n');
  await untilClosed(left.terminal, { reason: 'the shell ended', code: 7 });
  closed.screen.say({ type: 'close' });
  await untilClosed(closed.terminal, { reason: 'the person closed it' });
  mustBe(200, await account.send('DELETE', `/v1/keys/${person.keyId}`));
  await untilClosed(revoked.terminal, { reason: 'its key, its sandbox or its workspace no longer exists' });
  for (const { screen } of [left, closed, revoked]) screen.socket.terminate();
});
