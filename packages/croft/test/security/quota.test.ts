import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { megabyte, newWorkspace, text } from './quota-fixture.ts';

let [platform, account]: [Platform?, Account?] = [];
beforeAll(async () => {
  platform = await startPlatform();
  account = await platform.newAccount();
});
afterAll(() => platform?.[Symbol.asyncDispose]());

const open = (quota: object) => newWorkspace(platform as Platform, account as Account, { quota });

describe('a write over the quota of a workspace is reverted', () => {
  test('by write, edit and upload', async () => {
    const { call, put, listAll: listFiles, expectRefused } = await open({ bytes: 1000, files: 3 });
    await expectRefused(() => call('write', { file_path: 'b/c', content: text(5000) }));
    mustBe(200, await call('write', { file_path: 'a', content: text(900) }));
    await expectRefused(() => call('edit', { file_path: 'a', old_string: text(900), new_string: text(1001) }));
    expect([await put('c', 5 * megabyte), await put('c', 300)]).toEqual([409, 409]);
    expect(Object.keys(listFiles())).toEqual(['a']);
    mustBe(200, await call('write', { file_path: 'b', content: '' }));
    mustBe(200, await call('write', { file_path: 'c', content: '' }));
    await expectRefused(() => call('write', { file_path: 'd', content: '' }));
  });

  test('by a restore, an undo and a merge', async () => {
    const { call, expectRefused, newest } = await open({ bytes: 1000 });
    mustBe(200, await call('write', { file_path: '.gitignore', content: 'b' }));
    mustBe(200, await call('write', { file_path: 'a', content: text(900) }));
    mustBe(200, await call('snapshot_create', { name: 'large' }));
    mustBe(200, await call('delete', { path: 'a' }));
    mustBe(200, await call('write', { file_path: 'b', content: text(500) }));
    await expectRefused(() => call('snapshot_restore', { name: 'large' }));
    await expectRefused(async () => call('undo', { checkpoint: await newest('delete') }));
    mustBe(200, await call('workspace_fork', { workspace: 'w', name: 'fork' }));
    mustBe(200, await call('write', { workspace: 'fork', file_path: 'c', content: text(450) }));
    mustBe(200, await call('write', { workspace: 'w', file_path: 'b', content: text(700) }));
    await expectRefused(() => call('workspace_merge', { workspace: 'w', fork: 'fork' }));
  });

  test('by a transaction', async () => {
    const { call, expectRefused } = await open({ bytes: 1000 });
    const begun = await call('bash', { command: 'head -c 5000 /dev/zero > large', transaction: true });
    const { transaction } = mustBe(200, begun).changes;
    await expectRefused(() => call('transaction_commit', { transaction }));
  });

  test('by two concurrent writes, which do not both get the last free space', async () => {
    const { call, listAll: listFiles } = await open({ bytes: 1000 });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const answers = await Promise.all(names.map((file_path) => call('write', { file_path, content: text(400) })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(Object.keys(listFiles())).toHaveLength(2);
  });
});

describe('a command that writes over the quota of a workspace', () => {
  test('has its writes reverted, ignored and large files too, and earlier files stay', async () => {
    const { call, bash, listAll: listFiles } = await open({ bytes: 3 * megabyte });
    mustBe(200, await call('write', { file_path: '.gitignore', content: 'build/\n.env*\n' }));
    mustBe(200, await bash('echo secret > .env; echo one > kept; mkdir build; echo old > build/old'));
    const { 'build/old': old, ...rest } = listFiles();
    const moves = 'mv .env .env.moved; mv .env.moved .env; mv build/old build/older';
    const { error } = (await bash(`${moves}; echo two > kept; echo more > new; head -c 90m /dev/zero > build/large`))
      .body;
    expect(error).toMatchObject({ code: 'E_QUOTA', details: { takenBack: ['build/large', 'kept', 'new'] } });
    expect(listFiles()).toEqual({ ...rest, 'build/older': old });
    mustBe(200, await bash('true'));
  });

  test('is reported in the answer, and the history has no checkpoint of it', async () => {
    const { call, bash, listAll: listFiles } = await open({ bytes: megabyte });
    mustBe(200, await bash('echo one > kept'));
    const { error } = (await bash('echo two > kept; head -c 5m /dev/zero > large')).body;
    expect(error).toMatchObject({ code: 'E_QUOTA', details: { takenBack: ['kept', 'large'], isStillOver: false } });
    expect(error.message).toMatch(/taken back: kept, large/);
    expect(mustBe(200, await call('undo_list')).checkpoints).toHaveLength(1);
    expect(listFiles()).toEqual({ kept: expect.stringContaining('one') });
  });

  test('without end is stopped long before it would end by itself', async () => {
    const { bash, listAll: listFiles } = await open({ bytes: 20 * megabyte });
    const command = 'for i in $(seq 1500); do head -c 1m /dev/zero >> large; sleep 0.02; done';
    const { error } = (await bash(command)).body;
    expect(error.code).toBe('E_QUOTA');
    expect(error.details.used).toBeLessThan(700 * megabyte);
    expect(listFiles()).toEqual({});
  });

  test('is reverted after a timeout too, also if it wrote too little to be noticed while it ran', async () => {
    const { call, listAll: listFiles } = await open({ bytes: 100_000 });
    const { error } = (await call('bash', { command: 'head -c 500k /dev/zero > large; sleep 60', timeout: 1 })).body;
    expect(error.code).toBe('E_QUOTA');
    expect(listFiles()).toEqual({});
  });

  test('inside a repository keeps its files, which would be broken otherwise, and no command runs until there is space', async () => {
    const { bash, call, listAll: listFiles } = await open({ bytes: megabyte });
    mustBe(200, await bash('git init -q . && head -c 500k /dev/zero > a'));
    const { error } = (await bash('head -c 2m /dev/urandom > .git/objects/large')).body;
    expect(error).toMatchObject({ code: 'E_QUOTA', details: { isStillOver: true } });
    expect(error.message).toMatch(/still holds more/);
    expect((await bash('head -c 2m /dev/urandom > .git/objects/more')).body.error.message).toMatch(/no command runs/);
    expect(Object.keys(listFiles())).not.toContain('.git/objects/more');
    mustBe(200, await call('delete', { path: 'a' }));
  });
});

test('a workspace over its quota accepts changes that free space, and no others', async () => {
  const { call, bash, put, setQuota, expectRefused, newest } = await open({ bytes: 10_000 });
  mustBe(200, await call('write', { file_path: 'a', content: text(4000) }));
  mustBe(200, await call('write', { file_path: 'b', content: text(4000) }));
  mustBe(200, await bash('head -c 1500 /dev/zero > c'));
  await setQuota(1000);
  await expectRefused(() => call('write', { file_path: 'a', content: text(4001) }));
  await expectRefused(() => bash('echo > d'));
  mustBe(200, await call('write', { file_path: 'a', content: text(3000) }));
  mustBe(200, await call('edit', { file_path: 'a', old_string: text(3000), new_string: text(2000) }));
  expect(await put('b', 3000)).toBe(200);
  mustBe(200, await call('undo', { checkpoint: await newest('bash') }));
  mustBe(200, await call('move', { from: 'a', to: 'moved' }));
  mustBe(200, await call('delete', { path: 'moved' }));
  mustBe(200, await call('delete', { path: 'b' }));
  mustBe(200, await bash('echo room > d'));
});
