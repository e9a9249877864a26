import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import { openRecords } from '../../src/records/index.ts';
import { describeRecords } from '../contracts/records.ts';
import { addAccount } from '../contracts/records-rows.ts';
import { makeDirectory } from '../support/harness.ts';

describeRecords('sqlite', async () => {
  const directory = makeDirectory();
  const file = directory.at('records.db');
  const opened: Records[] = [];
  return {
    options: { file },
    async open(options) {
      const records = await openRecords({ file, ...options });
      opened.push(records);
      return records;
    },
    async execute(sql) {
      const database = new DatabaseSync(file, { timeout: 60_000 });
      try {
        database.exec(sql);
      } finally {
        database.close();
      }
    },
    async [Symbol.asyncDispose]() {
      for (const records of opened) await records[Symbol.asyncDispose]();
      directory[Symbol.dispose]();
    },
  };
});

test('the database and the files beside it are readable only for the owner, in a new directory', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('new/deep/records.db') });
  await addAccount(records);
  const names = readdirSync(directory.at('new/deep'));
  expect(names).toContain('records.db-wal');
  for (const name of names) expect(statSync(directory.at(`new/deep/${name}`)).mode & 0o777, name).toBe(0o600);
  expect(statSync(directory.at('new')).mode & 0o777).toBe(0o700);
});

test('a database that others could read is closed to them, with the files beside it', async () => {
  using directory = makeDirectory();
  const file = directory.at('records.db');
  await (await openRecords({ file }))[Symbol.asyncDispose]();
  chmodSync(file, 0o644);
  await using records = await openRecords({ file });
  await addAccount(records);
  for (const name of readdirSync(directory.path)) expect(statSync(directory.at(name)).mode & 0o777, name).toBe(0o600);
});

test.each([
  ['deleted', (file: string) => rmSync(file)],
  ['moved', (file: string) => renameSync(file, `${file}.old`)],
  ['replaced', (file: string) => cpSync(file, `${file}.new`) ?? renameSync(`${file}.new`, file)],
])('a change is not acknowledged after the file was %s', async (_, disturb) => {
  using directory = makeDirectory();
  const file = directory.at('records.db');
  await using records = await openRecords({ file });
  await addAccount(records);
  disturb(file);
  const adding = addAccount(records);
  await expect(adding).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
  await expect(adding).rejects.toThrow(/moved, deleted or replaced/);
});

test('a file that is not a database of croft is refused and not changed', async () => {
  using directory = makeDirectory({ 'notes.txt': 'dear diary, '.repeat(1000) });
  const other = new DatabaseSync(directory.at('other.db'));
  other.exec('CREATE TABLE invoices (id INTEGER)');
  other.close();
  for (const [name, message] of [
    ['notes.txt', /notes\.txt: the file is not a database/],
    ['other.db', /other\.db: this is not a database of Croft/],
  ] as const) {
    const before = [readFileSync(directory.at(name)), statSync(directory.at(name)).mode];
    await expect(openRecords({ file: directory.at(name) })).rejects.toThrow(message);
    expect([readFileSync(directory.at(name)), statSync(directory.at(name)).mode]).toEqual(before);
  }
  writeFileSync(directory.at('file'), '');
  await expect(openRecords({ file: directory.at('file/below.db') })).rejects.toMatchObject({
    code: 'E_STORAGE_FAILED',
  });
});

test('waiting for another process does not block this one, and has a deadline', async () => {
  using directory = makeDirectory();
  const file = directory.at('records.db');
  await using records = await openRecords({ file, deadlineMs: 3000 });
  const hold = `const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(process.argv[1]);
    database.exec('BEGIN IMMEDIATE');
    console.log('held');
    process.stdin.once('data', () => { database.exec('COMMIT'); console.log('let go'); });`;
  const holder = spawn(process.execPath, ['-e', hold, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(holder.stdout, 'data');
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 10);
    await expect(addAccount(records)).rejects.toMatchObject({ code: 'E_STORAGE_FAILED' });
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
    const waiting = addAccount(records);
    expect((await records.read((tables) => tables.accounts.list({ limit: 1 }))).rows).toEqual([]);
    holder.stdin.write('go\n');
    expect(await waiting).toMatch(/^acct_/);
  } finally {
    holder.kill('SIGKILL');
  }
});

test('the log is moved into the database while changes go on, and its size is limited', async () => {
  using directory = makeDirectory();
  const file = directory.at('records.db');
  await using records = await openRecords({ file });
  const accountId = await addAccount(records);
  const put = (index: number) =>
    records.change(({ secrets }) =>
      secrets.put({ accountId, name: `n${index % 50}`, value: 'x'.repeat(20_000), updatedAt: 'now' }),
    );
  const before = statSync(file).size;
  for (let index = 0; index < 600; index++) await put(index);
  await vi.waitFor(() => expect(statSync(file).size).toBeGreaterThan(before + 500_000));
  const log = statSync(`${file}-wal`).size;
  for (let index = 0; index < 2000; index++) await put(index);
  expect(statSync(`${file}-wal`).size).toBeLessThan(log + 32 * 1024 * 1024);
});
