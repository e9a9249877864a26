import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { addAccount, type Installation, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { type Account, type Json, mustBe } from '../support/servers/platform.ts';
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());
const patience = { timeout: 60_000, interval: 100 };

async function newAgent(account: Account): Promise<string> {
  const [sandbox, workspaceId] = [await account.newSandbox({ permissionMode: 'bypass' }), await account.newWorkspace()];
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
}

/** Writes `begun`, waits until the test lets it go on, and says so. Each run adds a line to `runs`. */
const slow = 'echo run >> runs; touch begun; until test -e go; do sleep 0.05; done; echo done; exit 3';

/** Lets the command go on, from outside. */
function letGo(ownInstallation: Installation): void {
  const [workspace = ''] = readdirSync(ownInstallation.at('workspaces')).filter((name) => name.startsWith('fs-'));
  writeFileSync(join(ownInstallation.at('workspaces'), workspace, 'go'), '');
}

async function trailOf(ownInstallation: Installation): Promise<Json[]> {
  const { stdout } = await ownInstallation.croft('audit', 'export');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const callsIn = (rows: readonly Json[], action: string): string[] =>
  rows.filter((row) => row.action === action).map(({ details }) => toDetails(details).call);

const toDetails = (details: Json): Json => (typeof details === 'string' ? JSON.parse(details) : details);

/** Every call that began ended, once, and the chain is whole. */
async function expectClosed(ownInstallation: Installation): Promise<void> {
  const rows = await trailOf(ownInstallation);
  const ended = callsIn(rows, 'call.ended');
  for (const call of callsIn(rows, 'call.began')) expect(ended.filter((one) => one === call)).toHaveLength(1);
  expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({ exitCode: 0, stderr: '' });
}

describe.skipIf(!postgres)('PostgreSQL goes away while a command runs', () => {
  const outages: [string, (server: TestPostgres) => Promise<void>, (server: TestPostgres) => Promise<void>][] = [
    ['is killed', (server) => server.crash(), (server) => server.start()],
    ['hangs', async (server) => server.hang(), async (server) => server.resume()],
  ];
  test.each(outages)('it %s: the answer has the output, and the trail ends the call', async (_, begin, end) => {
    await using ownInstallation = openInstallation(['--database-url', await postgres!.createDatabase()]);
    const server = await ownInstallation.start();
    const ann = await addAccount(server, 'ann');
    const agent = await newAgent(ann);
    const running = ann.call(agent, 'bash', { command: slow });
    const seen = () => ann.call(agent, 'glob', { pattern: '*' }, { 'croft-session': 'other' });
    await expect.poll(async () => (await seen()).body.paths, patience).toContain('begun');
    mustBe(200, await ann.call(agent, 'read', { file_path: 'runs' }, { 'croft-session': 'other' }));
    await begin(postgres!);
    letGo(ownInstallation);
    const startedAt = performance.now();
    const answer = mustBe(200, await running);
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(answer).toMatchObject({ output: 'done\n', exitCode: 3 });
    expect(answer.notices.join('\n')).toMatch(/audit trail does not have the end of this call yet.*do not repeat/is);
    expect(JSON.stringify(answer)).not.toMatch(/(?:try|call|request) again/i);
    const refused = await ann.call(agent, 'bash', { command: 'echo run >> runs' });
    expect(refused.body.error).toMatchObject({
      code: 'E_STORAGE_FAILED',
      hint: expect.stringMatching(/^Nothing was (?:done|stored)\. .*again in a moment/),
    });
    // The outage is known by now: nobody waits for the database again.
    const askedAt = performance.now();
    expect(await ann.call(agent, 'read', { file_path: 'runs' })).toMatchObject({ status: 503 });
    expect(performance.now() - askedAt).toBeLessThan(5000);
    await end(postgres!);
    await expect
      .poll(async () => (await ann.call(agent, 'read', { file_path: 'runs' })).body.content, patience)
      .toBe('run\n');
    await vi.waitFor(() => expectClosed(ownInstallation), { timeout: 60_000, interval: 500 });
  });

  test('and the server is killed before the database is back: the next start ends the call in the audit trail', async () => {
    await using ownInstallation = openInstallation(['--database-url', await postgres!.createDatabase()]);
    const server = await ownInstallation.start();
    const ann = await addAccount(server, 'ann');
    const agent = await newAgent(ann);
    const running = ann.call(agent, 'bash', { command: slow }).catch(() => undefined);
    const seen = () => ann.call(agent, 'glob', { pattern: '*' }, { 'croft-session': 'other' });
    await expect.poll(async () => (await seen()).body.paths, patience).toContain('begun');
    await postgres!.crash();
    letGo(ownInstallation);
    await running;
    await kill(server);
    await postgres!.start();
    const again = moveTo(await ownInstallation.start(), ann);
    expect(mustBe(200, await again.call(agent, 'read', { file_path: 'runs' })).content).toBe('run\n');
    await expectClosed(ownInstallation);
    const rows = await trailOf(ownInstallation);
    const late = rows.filter(
      ({ action, details }) => action === 'call.ended' && /E_INTERRUPTED/.test(JSON.stringify(details)),
    );
    expect(late).toHaveLength(1);
  });
});
