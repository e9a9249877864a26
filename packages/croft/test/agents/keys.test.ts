import { copyFileSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { addAccount, moveTo, openInstallation, type Server } from '../support/servers/installation.ts';
import { type Account, adminToken, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** Opens a record that is sealed, and makes one for the others to open. */
async function useRecords(accounts: readonly Account[], ids: string[]): Promise<void> {
  for (const account of accounts) {
    for (const id of ids) mustBe(200, await account.send('GET', `/v1/sandboxes/${id}`));
    ids.push(await account.newSandbox({ permissionMode: 'ask' }));
  }
}

test('on SQLite a key is added and used while the server runs', async () => {
  await using ownInstallation = openInstallation();
  const ann = await addAccount(await ownInstallation.start(), 'ann');
  const ids: string[] = [];
  await useRecords([ann], ids);
  expect((await ownInstallation.croft('server', 'keys', 'rotate')).stdout).toMatch(/^sealed 1 records with key k/);
  await useRecords([ann], ids);
  await useRecords([ann], ids);
  expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({ exitCode: 0 });
});

describe.skipIf(!postgres)('servers that share a database', () => {
  const directories = [makeDirectory(), makeDirectory(), makeDirectory(), makeDirectory()] as const;
  afterAll(() => {
    for (const directory of directories) directory[Symbol.dispose]();
  });

  test('share their keys: a new key is added first and used later, and a server without it does not start', async () => {
    const [workspace, one, two, stranger] = directories;
    const url = await postgres!.createDatabase();
    const args = (data: string) => ['--workspace', workspace.path, '--data', data, '--database-url', url];
    const env = { CROFT_ADMIN_TOKEN: adminToken };
    const start = (data: string): Promise<Server> => startServer(args(data), { env });
    const rotate = () => runCroft(['server', 'keys', 'rotate', '--data', one.path, '--database-url', url]);
    await using first = await start(one.path);
    // Before there is any record that it could not open.
    const refused = await start(stranger.path).catch(String);
    expect(refused).toMatch(/lacks keys that the other servers of its database have.*Copy the file keys/s);

    copyFileSync(one.at('keys'), two.at('keys'));
    let second = await start(two.path);
    const ann = await addAccount(first, 'ann');
    const both = () => [moveTo(first, ann), moveTo(second, ann)];
    const ids: string[] = [];
    await useRecords(both(), ids);

    const added = await rotate();
    expect(added.stdout).toMatch(/added key k\w+; nothing is sealed with it yet.*run the same command again/s);
    await useRecords(both(), ids);
    await second[Symbol.asyncDispose]();
    const behind = await start(two.path).catch(String);
    const [, id] = /added key (k\w+)/.exec(added.stdout) ?? [];
    expect(behind).toContain(`that the other servers of its database have: ${id}.`);

    copyFileSync(one.at('keys'), two.at('keys'));
    second = await start(two.path);
    await using _ = second;
    const used = await rotate();
    expect(used.stdout).toMatch(new RegExp(`^sealed ${ids.length} records with key ${id}\n$`));
    expect(readFileSync(one.at('keys'), 'utf8')).toMatch(new RegExp(`^pepper \\S+\n${id} `));
    // The second has the key where it does not seal with it yet.
    await useRecords(both(), ids);
    await useRecords(both().reverse(), ids);
    const verified = await runCroft(['audit', 'verify', '--data', one.path, '--database-url', url]);
    expect(verified).toMatchObject({ exitCode: 0 });
  });
});
