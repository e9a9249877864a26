import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { addAccount, type Installation, kill, openInstallation, type Server } from '../support/servers/installation.ts';
import { adminToken, mustBe, openAccount } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** An attacker with the database, but without the keys and the head. */
function attack(ownInstallation: Installation, ...statements: string[]): void {
  using database = new DatabaseSync(ownInstallation.at('croft.db'));
  for (const sql of statements) database.exec(sql);
}

const verify = (ownInstallation: Installation, ...args: string[]) => ownInstallation.croft('audit', 'verify', ...args);

async function makeRows(server: Server, count = 4): Promise<void> {
  for (let index = 0; index < count; index += 1) await addAccount(server, `a${Math.random().toString(36).slice(2)}`);
}

async function startWithRows(ownInstallation: Installation): Promise<Server> {
  const server = await ownInstallation.start();
  await makeRows(server);
  await waitForHead(server);
  return server;
}

/** The head is written a moment later than the rows, or when somebody verifies. */
async function waitForHead({ url }: Pick<Server, 'url'>): Promise<void> {
  mustBe(200, await openAccount(url, adminToken, '').send('GET', '/audit/verify'));
}

/** The rows as the older kind: without a key, which anybody can write. */
function rewriteWithoutKey(ownInstallation: Installation, from = 1): void {
  using database = new DatabaseSync(ownInstallation.at('croft.db'));
  const rows = database.prepare('SELECT * FROM audit WHERE sequence >= ? ORDER BY sequence').all(from);
  const before = database.prepare('SELECT hash FROM audit WHERE sequence = ?').get(from - 1);
  let previous = String(before?.hash ?? '0'.repeat(64));
  const update = database.prepare('UPDATE audit SET previous = ?, hash = ?, actor = ? WHERE sequence = ?');
  for (const { sequence, account_id, at, action, target, details } of rows) {
    const text = JSON.stringify([previous, sequence, account_id, at, 'nobody', action, target, details]);
    const hash = createHash('sha256').update(text).digest('hex');
    update.run(previous, hash, 'nobody', Number(sequence));
    previous = hash;
  }
}

const deleteLast = 'DELETE FROM audit WHERE sequence = (SELECT MAX(sequence) FROM audit)';

describe('audit rows deleted at the end', () => {
  test('are noticed, while a server runs and after it was killed', async () => {
    await using ownInstallation = openInstallation();
    const server = await startWithRows(ownInstallation);
    expect(await verify(ownInstallation)).toMatchObject({ exitCode: 0 });
    const { rows } = await headOf(ownInstallation);
    attack(ownInstallation, deleteLast, deleteLast);
    const cut = { exitCode: 1, stdout: expect.stringContaining(`row ${rows} is not there`) };
    expect(await verify(ownInstallation)).toMatchObject(cut);
    await kill(server);
    expect(await verify(ownInstallation)).toMatchObject(cut);
  });

  test('are noticed when others have taken their numbers, and the server reports it', async () => {
    await using ownInstallation = openInstallation();
    const server = await startWithRows(ownInstallation);
    attack(ownInstallation, deleteLast, deleteLast);
    await makeRows(server);
    await server.output.find(/the audit trail was cut/);
    expect(await verify(ownInstallation)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('the trail was cut'),
    });
  });

  test('are noticed by a server that starts afterwards', async () => {
    await using ownInstallation = openInstallation();
    await kill(await startWithRows(ownInstallation));
    attack(ownInstallation, deleteLast);
    const again = await ownInstallation.start();
    await again.output.find(/the audit trail was cut/);
    await makeRows(again);
    expect(await verify(ownInstallation)).toMatchObject({ exitCode: 1 });
    // Until somebody says that it is to be so, which is a row of its own.
    expect(await ownInstallation.croft('audit', 'anchor')).toMatchObject({ exitCode: 0 });
    expect(await verify(ownInstallation)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('before the head was'),
    });
    expect((await ownInstallation.croft('audit', 'export')).stdout).toContain('audit.anchored');
  });

  test('are noticed by a copy of the head elsewhere, even if the own head was restored too', async () => {
    await using ownInstallation = openInstallation();
    await kill(await startWithRows(ownInstallation));
    attack(ownInstallation, 'PRAGMA wal_checkpoint(TRUNCATE)');
    for (const name of ['croft.db', 'audit-head'])
      copyFileSync(ownInstallation.at(name), ownInstallation.at(`old-${name}`));
    const server = await ownInstallation.start();
    await makeRows(server);
    await waitForHead(server);
    writeFileSync(ownInstallation.at('elsewhere'), (await ownInstallation.croft('audit', 'head')).stdout);
    expect(await verify(ownInstallation, '--head', ownInstallation.at('elsewhere'))).toMatchObject({ exitCode: 0 });
    await kill(server);
    for (const name of ['croft.db-wal', 'croft.db-shm']) rmSync(ownInstallation.at(name), { force: true });
    for (const name of ['croft.db', 'audit-head'])
      copyFileSync(ownInstallation.at(`old-${name}`), ownInstallation.at(name));
    expect(await verify(ownInstallation)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('kept elsewhere'),
    });
    expect(await verify(ownInstallation, '--head', ownInstallation.at('elsewhere'))).toMatchObject({ exitCode: 1 });
  });
});

describe('an audit chain with valid links', () => {
  test.each([
    ['all of it', 1],
    ['its end', 3],
  ])('written without the key is found, %s', async (_, from) => {
    await using ownInstallation = openInstallation();
    await kill(await startWithRows(ownInstallation));
    rewriteWithoutKey(ownInstallation, from);
    expect(await verify(ownInstallation)).toMatchObject({ exitCode: 1 });
    // A head that says so cannot be made either.
    const head = JSON.parse(readFileSync(ownInstallation.at('audit-head'), 'utf8'));
    using database = new DatabaseSync(ownInstallation.at('croft.db'));
    const last = database.prepare('SELECT hash FROM audit ORDER BY sequence DESC LIMIT 1').get();
    writeFileSync(ownInstallation.at('audit-head'), JSON.stringify({ ...head, hash: last?.hash }));
    expect(await verify(ownInstallation)).toMatchObject({ exitCode: 1 });
    rmSync(ownInstallation.at('audit-head'));
    expect(await verify(ownInstallation)).toMatchObject({ exitCode: 1 });
  });

  test('with a last row written without the key is found', async () => {
    await using ownInstallation = openInstallation();
    await kill(await startWithRows(ownInstallation));
    const columns = 'account_id, at, actor, action, target, details, previous, hash';
    attack(
      ownInstallation,
      `INSERT INTO audit (sequence, ${columns}) SELECT 5, ${columns} FROM audit WHERE sequence = 4`,
    );
    rewriteWithoutKey(ownInstallation, 5);
    expect(await verify(ownInstallation)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('it has no key'),
    });
  });

  test('from before there was a key is accepted, and reported as such', async () => {
    await using ownInstallation = openInstallation();
    await kill(await startWithRows(ownInstallation));
    rewriteWithoutKey(ownInstallation);
    rmSync(ownInstallation.at('audit-head'));
    const server = await ownInstallation.start();
    await makeRows(server);
    await waitForHead(server);
    const { exitCode, stdout } = await verify(ownInstallation);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('of the older kind') });
    expect(stdout).toContain('whether rows 1 to 4 were rewritten');
    await kill(server);
    attack(ownInstallation, `UPDATE audit SET actor = 'another' WHERE sequence = 2`);
    expect(await verify(ownInstallation)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^broken at row 2\n/),
    });
  });
});

test('goes on with a new key, and a row of a lost key is reported', async () => {
  await using ownInstallation = openInstallation();
  await kill(await startWithRows(ownInstallation));
  const [old] = /^k\w+/m.exec(readFileSync(ownInstallation.at('keys'), 'utf8')) ?? [];
  expect(await ownInstallation.croft('server', 'keys', 'rotate')).toMatchObject({ exitCode: 0 });
  await kill(await startWithRows(ownInstallation));
  expect(await verify(ownInstallation)).toMatchObject({ exitCode: 0 });
  const keys = readFileSync(ownInstallation.at('keys'), 'utf8');
  writeFileSync(ownInstallation.at('keys'), keys.replace(new RegExp(`^${old}.*\n`, 'm'), ''));
  expect(await verify(ownInstallation)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`signed with key ${old}`),
  });
});

test('can be verified over REST by the admin, and not by an account', async () => {
  await using ownInstallation = openInstallation();
  const server = await startWithRows(ownInstallation);
  const admin = openAccount(server.url, adminToken, '');
  const ann = await addAccount(server, 'ann');
  expect(mustBe(200, await admin.send('GET', '/audit/verify'))).toMatchObject({ whole: true, rows: 5, problems: [] });
  expect(mustBe(200, await admin.send('GET', '/audit/head'))).toMatchObject({ rows: 5 });
  expect(await ann.send('GET', '/audit/verify')).toMatchObject({ status: 403 });
  attack(ownInstallation, deleteLast);
  const verdict = mustBe(200, await admin.send('GET', '/audit/verify'));
  expect(verdict).toMatchObject({ whole: false, problems: [expect.stringContaining('row 5 is not there')] });
});

describe.skipIf(!postgres)('two servers with a data directory each, on one PostgreSQL', () => {
  test('write one trail, and each notices deleted rows of the other', async () => {
    const url = await postgres!.createSchema();
    await using one = openInstallation(['--database-url', url]);
    await using other = openInstallation(['--database-url', url]);
    const server = await one.start();
    copyFileSync(one.at('keys'), other.at('keys'));
    const second = await other.start();
    await Promise.all([makeRows(server, 10), makeRows(second, 10)]);
    await Promise.all([server, second].map(waitForHead));
    expect(await verify(one)).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^20 rows/) });
    expect(await verify(other)).toMatchObject({ exitCode: 0 });
    // A server that starts has seen all that is there.
    await kill(server);
    const again = await one.start();
    await waitForHead(again);
    await postgres!.execute(url, deleteLast);
    expect(await verify(one)).toMatchObject({ exitCode: 1 });
    await kill(again);
    await kill(second);
  });
});

async function headOf(ownInstallation: Installation): Promise<{ rows: number }> {
  return JSON.parse((await ownInstallation.croft('audit', 'head')).stdout);
}
