import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { startDialling } from '../link/link-server.ts';
import { type FaultyCable, startFaultyCable } from '../support/faults/faulty-cable.ts';
import { asOtherTool } from '../support/s3/mount-fixture.ts';
import { startS3 } from '../support/s3/s3-server.ts';
import { type Account, mustBe, type Platform, startPlatform } from '../support/servers/platform.ts';
import { newToken, type Runner, startRunner, untilRunner } from './runner-fixture.ts';

const server = await startS3();
const bucket = (await server?.bucket('far')) ?? '';
const prefix = `far-${randomBytes(4).toString('hex')}`;

describe.skipIf(!server)('workspaces in a bucket, on runners that have none of its keys', () => {
  let [platform, account, cable]: [Platform?, Account?, FaultyCable?] = [];
  const runners = new Map<string, Runner>();

  beforeAll(async () => {
    const { endpoint, region, accessKeyId, secretAccessKey } = server!;
    platform = await startPlatform(['--runner-heartbeat', '0.5'], {
      ...{ CROFT_S3_ENDPOINT: endpoint, CROFT_S3_BUCKET: bucket, CROFT_S3_PREFIX: prefix, CROFT_S3_REGION: region },
      ...{ CROFT_S3_ACCESS_KEY_ID: accessKeyId, CROFT_S3_SECRET_ACCESS_KEY: secretAccessKey },
    });
    cable = await startFaultyCable(platform.url);
    account = await platform.newAccount('far');
    await Promise.all([
      start('one', ['--label', 'os=linux'], cable.url),
      start('two', ['--allow-control', '.vscode']),
      start('reader', ['--readonly']),
    ]);
  });
  afterAll(async () => {
    for (const runner of runners.values()) await runner[Symbol.asyncDispose]();
    await cable?.[Symbol.asyncDispose]();
    await platform?.[Symbol.asyncDispose]();
  });

  async function start(name: string, args: readonly string[] = [], url = platform!.url): Promise<void> {
    runners.set(name, await startRunner({ url, token: await newToken(account!, name), args }));
    await untilRunner(account!, name);
  }

  /** One agent on each machine, all with the same workspace. */
  async function newAgents(config: object = {}) {
    const workspaceId = await account!.newWorkspace({ storage: { provider: 's3' }, ...config });
    const on = async (place: object) => {
      const sandbox = await account!.newSandbox({ permissionMode: 'bypass', ...place });
      return account!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
    };
    const namespace = namespaceOf(account!.accountId, workspaceId);
    return {
      ...{ workspaceId, namespace, outside: asOtherTool({ ...server!, bucket, prefix, namespace }) },
      one: await on({ provider: 'remote', labels: { os: 'linux' } }),
      two: await on({ provider: 'remote', runner: 'two' }),
      reader: await on({ provider: 'remote', runner: 'reader' }),
      here: await on({}),
    };
  }

  const bash = async (agent: string, command: string) =>
    mustBe(200, await account!.call(agent, 'bash', { command })).output as string;
  const write = (agent: string, file: string, content: string) =>
    account!.call(agent, 'write', { file_path: file, content });
  const filesOf = (runner: string, namespace: string) =>
    readdirSync(join(runners.get(runner)!.root, 'mounts', namespace, 'files')).toSorted();

  test('a control file is changed there if both the account and the runner allow it', async () => {
    const workspaceId = await account!.newWorkspace({ storage: { provider: 's3' } });
    const statusOn = async (place: object) => {
      const sandbox = await account!.newSandbox({ permissionMode: 'bypass', provider: 'remote', ...place });
      const agent = await account!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
      const { status, body } = await write(agent, '.vscode/settings.json', '{}');
      return status === 200 ? status : (body as { error: { code: string } }).error.code;
    };
    expect(await statusOn({ runner: 'two' })).toBe('E_CONTROL_FILE');
    expect(await statusOn({ labels: { os: 'linux' }, allowControl: ['.vscode'] })).toBe('E_CONTROL_FILE');
    expect(await statusOn({ runner: 'two', allowControl: ['.vscode'] })).toBe(200);
  });

  test('the changes of a call there are in the bucket when it is answered, for every other machine', async () => {
    const { one, two, reader, here, outside, workspaceId, namespace } = await newAgents();
    mustBe(200, await write(one, 'a.txt', 'one\n'));
    expect(await outside.all()).toEqual({ 'a.txt': 'one\n' });
    expect(await bash(two, 'cat a.txt; echo two > a.txt; install -m 750 a.txt run')).toBe('one\n');
    expect(await bash(here, 'cat a.txt; stat -c %a run; echo here > b.txt')).toBe('two\n750\n');
    expect(mustBe(200, await account!.call(one, 'read', { file_path: 'b.txt' })).content).toBe('here\n');
    expect(mustBe(200, await account!.call(one, 'glob', { pattern: '*.txt' })).paths.toSorted()).toEqual([
      'a.txt',
      'b.txt',
    ]);
    expect([filesOf('one', namespace), filesOf('two', namespace)]).toEqual([
      ['a.txt', 'b.txt', 'run'],
      ['a.txt', 'run'],
    ]);
    const record = mustBe(200, await account!.send('GET', `/v1/workspaces/${workspaceId}`));
    expect(record.config.home).toBeUndefined();
    // With the record goes every copy of it.
    for (const agent of [one, two, reader, here]) mustBe(200, await account!.send('DELETE', `/v1/agents/${agent}`));
    mustBe(200, await account!.send('DELETE', `/v1/workspaces/${workspaceId}`));
    expect(await outside.all()).toEqual({});
    for (const { root } of [runners.get('one')!, runners.get('two')!])
      expect(readdirSync(join(root, 'mounts'))).not.toContain(namespace);
  });

  test('snapshots, undo and transactions work there, and their results are in the bucket too', async () => {
    const { one, two, outside } = await newAgents();
    await bash(one, 'echo good > a; echo kept > b');
    mustBe(200, await account!.call(one, 'snapshot_create', { name: 'good' }));
    await bash(two, 'rm b; echo bad > a');
    mustBe(200, await account!.call(two, 'snapshot_restore', { name: 'good' }));
    expect(await outside.all()).toEqual({ a: 'good\n', b: 'kept\n' });
    await bash(one, 'rm a');
    mustBe(200, await account!.call(one, 'undo', {}));
    const begun = mustBe(200, await account!.call(one, 'bash', { command: 'echo new > a', transaction: true }));
    expect(await outside.all()).toEqual({ a: 'good\n', b: 'kept\n' });
    const { transaction } = begun.changes;
    mustBe(200, await account!.call(one, 'transaction_commit', { transaction }));
    const forked = await account!.call(one, 'workspace_fork', { name: 'fork' });
    expect(forked.body.error).toMatchObject({
      message: 'a workspace in a bucket cannot be forked while it is on a runner',
      hint: 'Take a snapshot, or use a transaction.',
    });
    expect(await outside.all()).toEqual({ a: 'new\n', b: 'kept\n' });
  });

  test('no acknowledged change is lost with a runner that is killed, and with its disk', async () => {
    const { one, two, namespace } = await newAgents();
    for (let count = 0; count < 3; count++) await bash(two, `echo ${count} >> log`);
    const runner = runners.get('two')!;
    await runner.stop('SIGKILL');
    expect(await bash(one, 'cat log')).toBe('0\n1\n2\n');
    rmSync(join(runner.root, 'mounts', namespace), { recursive: true });
    runner.restart();
    await untilRunner(account!, 'two');
    await vi.waitFor(async () => expect(await bash(two, 'cat log')).toBe('0\n1\n2\n'));
  });

  test('a machine that was offline when a record was removed deletes its copy when it is back', async () => {
    const { one, two, reader, here, workspaceId, namespace } = await newAgents();
    await bash(two, 'echo mine > f');
    const runner = runners.get('two')!;
    await runner.stop('SIGTERM');
    await untilRunner(account!, 'two', 'offline');
    for (const agent of [one, two, reader, here]) mustBe(200, await account!.send('DELETE', `/v1/agents/${agent}`));
    mustBe(200, await account!.send('DELETE', `/v1/workspaces/${workspaceId}`));
    expect(filesOf('two', namespace)).toEqual(['f']);
    runner.restart();
    await untilRunner(account!, 'two');
    await vi.waitFor(() => expect(readdirSync(join(runner.root, 'mounts'))).not.toContain(namespace));
  });

  test('a cable cut during a commit does not break it', async () => {
    const { one, outside } = await newAgents();
    await bash(one, 'true');
    const wanted = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`f${index}`, 'x'.repeat(50_000 + index)]),
    );
    const command = 'for i in $(seq 0 19); do head -c $((50000 + i)) /dev/zero | tr "\\0" x > f$i; done';
    for (const bytes of [300_000, 600_000]) {
      const before = cable!.count();
      cable!.cutAfter(bytes);
      await bash(one, command);
      expect(cable!.count()).toBeGreaterThan(before);
      expect(await outside.all()).toEqual(wanted);
      await bash(one, 'rm f*');
    }
  });

  test('changes that a runner had not stored when its link was lost are stored over the next', async () => {
    const { one, two, outside, namespace } = await newAgents();
    mustBe(200, await write(one, 'before', 'kept\n'));
    const running = account!.call(one, 'bash', { command: 'echo late > x; mv x late; sleep 600' });
    await vi.waitFor(() => expect(filesOf('one', namespace)).toContain('late'));
    // While it does not answer, one that comes with the same token takes its place, and goes away again.
    const { child, tokenFile } = runners.get('one')!;
    const token = readFileSync(tokenFile, 'utf8');
    child.kill('SIGSTOP');
    const { stop } = startDialling(platform!.url, { token: () => token });
    expect((await running).body.error.code).toBe('E_RUNNER_LOST');
    await stop();
    child.kill('SIGCONT');
    expect(await bash(two, 'ls')).toBe('before\n');
    await vi.waitFor(async () => expect(await bash(one, 'cat late')).toBe('late\n'));
    expect(await outside.all()).toEqual({ before: 'kept\n', late: 'late\n' });
  });

  test('the quota is enforced there, and changes that free space are allowed', async () => {
    const stored = await newAgents({ quota: { bytes: 100 } });
    const local = await account!.newWorkspace({ quota: { bytes: 100 } });
    const sandbox = await account!.newSandbox({ provider: 'remote', runner: 'two', permissionMode: 'bypass' });
    const onDisk = await account!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId: local }] });
    for (const agent of [stored.two, onDisk]) {
      mustBe(200, await write(agent, 'a', 'x'.repeat(60)));
      const refused = await write(agent, 'b', 'x'.repeat(60));
      expect(refused.body.error).toMatchObject({ code: 'E_QUOTA', message: expect.stringContaining('120') });
      await account!.call(agent, 'delete', { path: 'b' });
      mustBe(200, await write(agent, 'c', 'x'.repeat(40)));
    }
    expect(Object.keys(await stored.outside.all())).toEqual(['a', 'c']);
  });

  test('a read-only runner shows the files, and changes nothing in the bucket either', async () => {
    const { one, reader, outside } = await newAgents();
    for (const content of ['first\n', 'second\n']) {
      mustBe(200, await write(one, 'f', content));
      expect(mustBe(200, await account!.call(reader, 'read', { file_path: 'f' })).content).toBe(content);
    }
    for (const [tool, input] of [
      ['write', { file_path: 'f', content: 'x' }],
      ['bash', { command: 'echo x > f' }],
    ] as const)
      expect((await account!.call(reader, tool, input)).body.error.code).toBe('E_READ_ONLY');
    expect(await outside.all()).toEqual({ f: 'second\n' });
  });
});
