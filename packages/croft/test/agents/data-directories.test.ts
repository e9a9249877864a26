import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { runCroft } from '../support/harness.ts';
import {
  addAccount,
  type Installation,
  kill,
  moveTo,
  openInstallation,
  type Server,
} from '../support/servers/installation.ts';
import { type Account, adminToken, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

const keys = { CROFT_KEYS: `pepper ${'p'.repeat(43)},k1 ${'k'.repeat(43)}` };

describe.skipIf(!postgres)('two servers on one database, each with a data directory of its own', () => {
  let [one, other]: Installation[] = [];
  let servers: Server[];
  let [here, there]: Account[] = [];
  let url: string;

  beforeAll(async () => {
    url = await postgres!.createSchema();
    [one, other] = [0, 1].map(() => openInstallation(['--database-url', url], keys));
    const second = await other!.start();
    servers = [await one!.start(), second];
    const ann = await addAccount(servers[0]!, 'ann');
    [here, there] = servers.map((server) => moveTo(server, ann));
  });

  afterAll(async () => {
    await one?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });

  async function newAgent() {
    const [sandbox, workspaceId] = [await here!.newSandbox({ permissionMode: 'bypass' }), await here!.newWorkspace()];
    const agent = await here!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
    mustBe(200, await here!.call(agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
    return { agent, workspaceId, directory: ['workspaces', namespaceOf(here!.accountId, workspaceId)].join('/') };
  }

  test('a workspace is opened only by the server that has its files, and the other one forwards to it', async () => {
    const { agent, workspaceId, directory } = await newAgent();
    expect(mustBe(200, await there!.call(agent, 'read', { file_path: 'a.txt' })).content).toBe('one\n');
    mustBe(200, await there!.call(agent, 'write', { file_path: 'b.txt', content: '' }));
    expect(mustBe(200, await there!.call(agent, 'bash', { command: 'ls' })).output).toBe('a.txt\nb.txt\n');
    expect(existsSync(other!.at(directory))).toBe(false);
    expect(existsSync(one!.at(`${directory}/b.txt`))).toBe(true);
    const record = mustBe(200, await there!.send('GET', `/v1/workspaces/${workspaceId}`));
    expect(JSON.stringify(record)).not.toContain('dir_');
  });

  test('while the server with the files is away, the other one names it, and can delete the workspace', async () => {
    const { agent, workspaceId, directory } = await newAgent();
    const files = `/v1/workspaces/${workspaceId}/files`;
    await kill(servers[0]!);
    const refusal = { error: { code: 'E_OTHER_SERVER', message: expect.stringContaining('in the data directory of') } };
    for (const answer of [
      await there!.call(agent, 'write', { file_path: 'b.txt', content: '' }),
      await there!.call(agent, 'read', { file_path: 'a.txt' }),
      await there!.send('GET', files),
    ])
      expect(answer).toMatchObject({ status: 421, body: refusal });
    mustBe(200, await there!.send('DELETE', `/v1/agents/${agent}`));
    mustBe(200, await there!.send('DELETE', `/v1/workspaces/${workspaceId}`));
    expect(existsSync(one!.at(directory))).toBe(true);
    servers[0] = await one!.start();
    here = moveTo(servers[0], here!);
    await expect.poll(() => existsSync(one!.at(directory))).toBe(false);
  }, 60_000);

  test('the workspaces of a server that is gone are adopted, and not before it is gone', async () => {
    const { agent } = await newAgent();
    const croft = (...args: string[]) =>
      runCroft(['server', 'directories', ...args, '--data', other!.data, '--database-url', url], {
        env: { ...keys, CROFT_ADMIN_TOKEN: adminToken },
      });
    const rows = JSON.parse((await croft('list', '--json')).stdout).directories;
    expect(rows).toHaveLength(2);
    const { id } = rows.find(({ address }: { address: string }) => address === servers[0]!.url);
    expect(await croft('adopt', id)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('stop it first') });
    expect(await croft('adopt', 'dir_unknown')).toMatchObject({ exitCode: 2 });
    await servers[0]![Symbol.asyncDispose]();
    await postgres!.execute(url, `UPDATE data_directories SET used_at = '2020-01-01T00:00:00.000Z'`);
    expect(await croft('adopt', id)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+ workspaces/) });
    mustBe(200, await there!.call(agent, 'write', { file_path: 'c.txt', content: 'two\n' }));
  });
});
