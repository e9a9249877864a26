import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openRecords } from '../../src/records/index.ts';
import { connectStdio, croft, eras, makeDirectory, runCroft, startServer } from '../support/harness.ts';
import { addAccount, kill, moveTo, openInstallation } from '../support/servers/installation.ts';
import { type Json, mustBe, openAccount } from '../support/servers/platform.ts';
import { addSealedRecords, expectAllUsable, expectPrivate, hidden, keyIds, readSealed } from './operator-fixture.ts';

describe('keys', () => {
  test('rotate: every record is sealed with the new key, and a restarted server opens all of them', async () => {
    await using ownInstallation = openInstallation();
    const first = await ownInstallation.start();
    const ann = await addAccount(first, 'ann');
    const sealed = await addSealedRecords(ann);
    await kill(first);
    const [old] = keyIds(ownInstallation);
    expect(readSealed(ownInstallation).every((text) => text.startsWith(`c1.${old}.`))).toBe(true);

    for (let round = 1; round < 3; round += 1) {
      const rotated = await ownInstallation.croft('server', 'keys', 'rotate');
      const [current, ...rest] = keyIds(ownInstallation);
      expect(rest).toHaveLength(round);
      expect(rotated).toEqual({ exitCode: 0, stderr: '', stdout: `sealed 7 records with key ${current}\n` });
      expect(readSealed(ownInstallation).filter((text) => !text.startsWith(`c1.${current}.`))).toEqual([]);
      expectPrivate(ownInstallation.at('keys'));
    }
    await expectAllUsable(moveTo(await ownInstallation.start(), ann), sealed);
    expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({ exitCode: 0 });
  });

  test('rotate: a killed rotation loses nothing, and the next one finishes it', async () => {
    await using ownInstallation = openInstallation();
    const first = await ownInstallation.start();
    const ann = await addAccount(first, 'ann');
    const sealed = await addSealedRecords(ann);
    await kill(first);
    const child = spawn(croft, ['server', 'keys', 'rotate', '--data', ownInstallation.data], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    while (keyIds(ownInstallation).length === 1) await sleep(1);
    child.kill('SIGKILL');
    await exited;

    const second = await ownInstallation.start();
    await expectAllUsable(moveTo(second, ann), sealed);
    await kill(second);
    expect(await ownInstallation.croft('server', 'keys', 'rotate')).toMatchObject({ exitCode: 0 });
    const [current, ...rest] = keyIds(ownInstallation);
    // It was killed before its key was used, and the next goes on with that key; or after, and the next has its own.
    expect([1, 2]).toContain(rest.length);
    expect(readSealed(ownInstallation).filter((text) => !text.startsWith(`c1.${current}.`))).toEqual([]);
  });

  test('missing or wrong: every command stops with the reason, and no data is lost', async () => {
    await using ownInstallation = openInstallation();
    const first = await ownInstallation.start();
    const ann = await addAccount(first, 'ann');
    const sealed = await addSealedRecords(ann);
    await kill(first);
    renameSync(ownInstallation.at('keys'), ownInstallation.at('kept'));
    const before = readSealed(ownInstallation);
    const right = readFileSync(ownInstallation.at('kept'), 'utf8');
    const wrong = right.replaceAll(/ \S+/g, () => ` ${randomBytes(32).toString('base64url')}`);
    const renamed = wrong.replace(/^k\w+/m, 'kother');

    const commands = [['serve', '--port', '0'], ['server', 'keys', 'rotate'], ['audit', 'verify'], ['approvals']];
    const refuse = async (text: string | undefined, words: RegExp, which = commands) => {
      for (const command of which) {
        if (text !== undefined) writeFileSync(ownInstallation.at('keys'), text);
        const refused = await ownInstallation.croft(...command);
        expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringMatching(words) });
        expect(refused.stderr).not.toMatch(/^ +at /m);
        expect(
          existsSync(ownInstallation.at('keys')) ? readFileSync(ownInstallation.at('keys'), 'utf8') : undefined,
        ).toBe(text);
      }
    };
    await refuse(undefined, /keys is missing/);
    await refuse(wrong, /sealed with a key that is not there/);
    await refuse(renamed, /sealed with a key that is not there/, [['server', 'keys', 'rotate']]);
    await refuse('pepper x\n', /32 bytes in base64url/, [['serve', '--port', '0']]);
    expect(readSealed(ownInstallation)).toEqual(before);

    // The same keys from the environment do as well.
    rmSync(ownInstallation.at('keys'));
    const env = { CROFT_KEYS: right.trim().replaceAll('\n', ',') };
    expect(await runCroft(['audit', 'verify', '--data', ownInstallation.data], { env })).toMatchObject({ exitCode: 0 });
    copyFileSync(ownInstallation.at('kept'), ownInstallation.at('keys'));
    await expectAllUsable(moveTo(await ownInstallation.start(), ann), sealed);
  });
});

describe('audit', () => {
  test('is exported as JSON lines, for all accounts or for one', async () => {
    await using ownInstallation = openInstallation();
    const server = await ownInstallation.start();
    const [ann, bob] = [await addAccount(server, 'ann'), await addAccount(server, 'bob')];
    const sealed = await addSealedRecords(ann);
    await bob.newSandbox();
    // Beside a server that runs.
    const exportOf = async (...args: string[]): Promise<Json[]> => {
      const { stdout, exitCode } = await ownInstallation.croft('audit', 'export', ...args);
      expect(exitCode).toBe(0);
      return stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    };
    const [all, anns, bobs] = [
      await exportOf(),
      await exportOf('--account', ann.accountId),
      await exportOf('--account', bob.accountId),
    ];
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_, index) => index + 1));
    expect(anns).toEqual(all.filter(({ accountId }) => accountId === ann.accountId));
    expect(bobs).toEqual(all.filter(({ accountId }) => accountId === bob.accountId));
    expect(bobs.map(({ action }) => action)).toContain('sandbox.created');
    const reported = anns.map(({ action, target }) => `${action} ${target}`);
    expect(reported).toEqual(
      expect.arrayContaining([`sandbox.created ${sealed.sandbox}`, `approval.requested ${sealed.approvalId}`]),
    );
    expect(await exportOf('--account', 'acct_000000000000000000000000')).toEqual([]);
    expect(JSON.stringify(all)).not.toMatch(/value-of-|text-of-a-command/);
  });

  test('is verified up to the first row that was changed, removed or inserted', async () => {
    await using ownInstallation = openInstallation();
    const file = ownInstallation.at('croft.db');
    // Keys come before records.
    expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^0 rows/),
    });
    const entry = { accountId: 'a', at: '2026-01-01', actor: 'me', action: 'call', target: 't', details: '{}' };
    {
      await using records = await openRecords({ file });
      await records.change(({ audit }) => audit.append(Array.from({ length: 1001 }, () => entry)));
    }
    // Rows of the older kind, without a key, which nobody has kept watch over yet.
    expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('there is no head to compare with'),
    });
    expect(await ownInstallation.croft('audit', 'anchor')).toMatchObject({ exitCode: 0 });
    const whole = '1002 rows, each follows from the one before, 1001 of them of the older kind, without a key';
    const { stdout, exitCode } = await ownInstallation.croft('audit', 'verify');
    expect({ exitCode, first: stdout.split('\n')[0] }).toEqual({ exitCode: 0, first: whole });
    copyFileSync(file, ownInstallation.at('untouched'));
    const columns = 'account_id, at, actor, action, target, details, previous, hash';
    const copy = (from: number, to: number) =>
      `INSERT INTO audit (sequence, ${columns}) SELECT ${to}, ${columns} FROM audit WHERE sequence = ${from}`;
    const damages: [sql: string, row: number][] = [
      [`UPDATE audit SET details = '{"a":1}' WHERE sequence = 700`, 700],
      [`UPDATE audit SET at = '2025-01-01' WHERE sequence = 1`, 1],
      [`UPDATE audit SET hash = '${'0'.repeat(64)}' WHERE sequence = 500`, 500],
      ['DELETE FROM audit WHERE sequence = 501', 502],
      ['DELETE FROM audit WHERE sequence = 1', 2],
      [copy(1002, 1003), 1003],
      [`UPDATE audit SET details = '{"a":2}' WHERE sequence = 1002`, 1002],
      [copy(1, 0), 0],
      [copy(1, -5), -5],
      ['UPDATE audit SET sequence = sequence + 1000000 WHERE sequence >= 900', 1_000_900],
    ];
    for (const [sql, row] of damages) {
      for (const name of readdirSync(ownInstallation.data))
        if (name.startsWith('croft.db')) rmSync(ownInstallation.at(name));
      copyFileSync(ownInstallation.at('untouched'), file);
      using database = new DatabaseSync(file);
      database.exec(sql);
      const verified = await ownInstallation.croft('audit', 'verify');
      const [first] = verified.stdout.split('\n');
      expect({ sql, first, ...verified }).toMatchObject({
        sql,
        exitCode: 1,
        first: `broken at row ${row}`,
        stderr: '',
      });
    }
  });
});

describe.each(eras)('croft approvals, for a client of %s that cannot ask', (era) => {
  test('approves, denies, and approves for the session, from another terminal', async () => {
    using workspace = makeDirectory();
    using data = makeDirectory();
    const env = { CROFT_DATA: data.path };
    await using session = await connectStdio(['--workspace', workspace.path, '--permission-mode', 'ask'], { era, env });
    const approvals = (verb = 'list', ...args: string[]) => runCroft(['approvals', verb, ...args, '--data', data.path]);
    const pending = async (): Promise<string[]> => {
      const { stdout } = await approvals('list', '--json');
      return JSON.parse(stdout).approvals.map(({ approvalId }: Json) => approvalId);
    };
    const write = (file_path: string) => session.call('write', { file_path, content: 'x\n' });
    const whenAsked = async () => {
      await expect.poll(pending).toHaveLength(1);
      const [id = ''] = await pending();
      return id;
    };

    const approved = write('a.txt');
    const id = await whenAsked();
    expect((await approvals()).stdout).toContain(`${id}\tpending\twrite\t`);
    expect(existsSync(workspace.at('a.txt'))).toBe(false);
    expect(await approvals('approve', id)).toMatchObject({ exitCode: 0 });
    expect(await approved).toMatchObject({ isError: false });
    expect(readFileSync(workspace.at('a.txt'), 'utf8')).toBe('x\n');
    expect(await approvals('deny', id)).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('decided'),
    });

    const denied = write('b.txt');
    expect(await approvals('deny', await whenAsked(), '--reason', 'not today')).toMatchObject({ exitCode: 0 });
    expect(await denied).toMatchObject({ isError: true, text: expect.stringContaining('not today') });
    expect(existsSync(workspace.at('b.txt'))).toBe(false);

    const bash = () => session.call('bash', { command: 'echo again >> log' });
    const running = bash();
    expect(await approvals('approve', await whenAsked(), '--for-session')).toMatchObject({ exitCode: 0 });
    expect(await running).toMatchObject({ isError: false });
    expect(await bash()).toMatchObject({ isError: false });
    expect(readFileSync(workspace.at('log'), 'utf8')).toBe('again\nagain\n');
    expect(await approvals()).toMatchObject({ stdout: '', stderr: 'nothing waits for an approval\n' });
    expect(await approvals('approve', 'ap_000000000000000000000000')).toMatchObject({ exitCode: 3 });
  });
});

test('stored data is for its owner alone, and no secret is in it in the clear', async () => {
  using workspace = makeDirectory();
  using fixture = makeDirectory();
  const data = fixture.at('made/by/croft');
  await using server = await startServer(['--workspace', workspace.path, '--data', data]);
  const adminToken = readFileSync(`${data}/admin-token`, 'utf8').trim();
  const admin = openAccount(server.url, adminToken, '');
  const { secret, account } = mustBe(201, await admin.send('POST', '/accounts', { username: 'ann' }));
  const ann = openAccount(server.url, secret, account.accountId);
  const sealed = await addSealedRecords(ann);
  const shell = { command: `: ${hidden.secret} ${hidden.environment}; sleep 600`, run_in_background: true };
  mustBe(200, await ann.call(sealed.agent, 'bash', shell));
  mustBe(200, await ann.call(sealed.agent, 'write', { file_path: 'a', content: hidden.secret }));

  expect(statSync(data).mode & 0o777).toBe(0o700);
  const names = ['croft.db', 'croft.db-wal', 'croft.db-shm', 'keys', 'admin-token'];
  for (const name of names) expectPrivate(`${data}/${name}`);
  const keys = [...readFileSync(`${data}/keys`, 'utf8').matchAll(/ (\S+)/g)].map(([, key]) => key);
  const values = [...Object.values(hidden), secret, sealed.secret, adminToken, ...keys];
  for (const name of ['croft.db', 'croft.db-wal', 'croft.db-shm']) {
    const bytes = readFileSync(`${data}/${name}`);
    expect({ name, found: values.filter((value) => bytes.includes(value)) }).toEqual({ name, found: [] });
  }
});
