import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { asOtherTool } from '../support/s3/mount-fixture.ts';
import { startS3Gateway } from '../support/s3/s3-server.ts';
import { startBucketServers } from '../support/servers/bucket-servers.ts';
import { addAccount, kill, moveTo } from '../support/servers/installation.ts';
import { type Account, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const [gateway, postgres] = [await startS3Gateway(), await startPostgres()];
afterAll(async () => {
  await gateway?.stop();
  await postgres?.[Symbol.asyncDispose]();
});

/** Most forks of one agent. */
const maxWorkspaces = 100;
/** Everything there is, with its mode, what it holds or leads to. */
const everything = 'find . -mindepth 1 ! -type l -printf "%y %m %P\\n" -o -printf "l %P -> %l\\n" | LC_ALL=C sort; cat';

describe.skipIf(!gateway || !postgres)(
  'forks of workspaces in a bucket, on servers that share only the bucket and the database',
  () => {
    const [top, below] = ['forks', randomBytes(4).toString('hex')];
    const prefix = `${top}/${below}`;
    let fixture: Awaited<ReturnType<typeof startBucketServers>>;
    let [here, there]: Account[] = [];

    beforeAll(async () => {
      fixture = await startBucketServers(gateway!, postgres!, prefix);
      ({ here, there } = fixture);
    });

    afterAll(() => fixture?.[Symbol.asyncDispose]());

    const bucketOf = (workspaceId: string) => fixture.outside(namespaceOf(here!.accountId, workspaceId));
    const keptOf = (workspaceId: string) => fixture.outside(`.croft/${namespaceOf(here!.accountId, workspaceId)}`);

    /** Every object with what it holds, and what it says of itself. */
    async function describeAll(workspaceId: string) {
      const outside = bucketOf(workspaceId);
      const all = Object.entries(await outside.all());
      return Promise.all(
        all.map(async ([name, content]) => {
          const { 'croft-write': _, 'croft-put': __, ...metadata } = await outside.metadata(name);
          return { name, content, metadata };
        }),
      );
    }

    async function newAgent(permissionMode = 'bypass') {
      const workspaceId = await here!.newWorkspace({ storage: { provider: 's3' } });
      const sandbox = await here!.newSandbox({ permissionMode });
      const agent = await here!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
      return { workspaceId, sandbox, agent };
    }

    const call = async (account: Account, agent: string, tool: string, input: object = {}) =>
      mustBe(200, await account.call(agent, tool, input));
    const bash = async (account: Account, agent: string, command: string, workspace?: string) =>
      (await call(account, agent, 'bash', { command, ...(workspace !== undefined && { workspace }) })).output as string;

    test('a fork made on one server is worked in there, and merged on the other, again and again', async () => {
      const { agent, workspaceId } = await newAgent();
      await bash(here!, agent, 'printf "1\\n2\\n3\\n4\\n5\\n" > text; echo a > a; echo gone > gone');
      const fork = await call(here!, agent, 'workspace_fork', { name: 'try-1' });
      expect(fork).toMatchObject({ name: 'try-1', workspaceId: expect.stringMatching(/^ws_/) });
      expect(fork.workspaceId).not.toBe(workspaceId);
      await bash(here!, agent, 'sed -i s/1/one/ text; rm gone; echo new > new', 'try-1');
      await bash(there!, agent, 'sed -i s/5/five/ text', 'w');
      expect(await bash(here!, agent, 'cat text; ls', 'w')).toBe('1\n2\n3\n4\nfive\na\ngone\ntext\n');
      const merged = await call(there!, agent, 'workspace_merge', { workspace: 'w', fork: 'try-1' });
      expect(merged).toMatchObject({ added: ['new'], removed: ['gone'], merged: ['text'], conflicts: [] });
      expect(await bucketOf(workspaceId).all()).toEqual({ a: 'a\n', new: 'new\n', text: 'one\n2\n3\n4\nfive\n' });
      // The next merge starts from this one, wherever it is done.
      await bash(there!, agent, 'echo again > new; echo theirs > a', 'try-1');
      await bash(there!, agent, 'echo ours > own', 'w');
      await call(here!, agent, 'workspace_merge', { workspace: 'w', fork: 'try-1' });
      expect(await bash(there!, agent, 'cat a new own text', 'w')).toBe('theirs\nagain\nours\none\n2\n3\n4\nfive\n');
    });

    test('a fork has everything: modes, links, empty directories, odd names, ignored files, and .git', async () => {
      const { agent, workspaceId } = await newAgent();
      await bash(
        here!,
        agent,
        'git init -q . && echo ignored > .gitignore && mkdir -p ignored deep/er/empty && echo i > ignored/i &&' +
          ' echo run > run && chmod 750 run && ln -s ../outside link && ln -s run inner && : > nothing &&' +
          ' mkdir -m 700 private && echo p > private/p && chmod 400 private/p && echo n > "$(printf "b\\377d %%{ \\n name")"' +
          ' && head -c 3000000 /dev/urandom > large',
      );
      const showScript = `${everything} run private/p ignored/i .git/HEAD .git/config; sha256sum large`;
      // A sandbox that finds a repository shows more in it than one in which it was made.
      const was = await bash(there!, agent, showScript, 'w');
      const fork = await call(here!, agent, 'workspace_fork', { name: 'whole' });
      expect(await describeAll(fork.workspaceId)).toEqual(await describeAll(workspaceId));
      for (const account of [here!, there!]) expect(await bash(account, agent, showScript, 'whole')).toBe(was);
      expect(was).toContain('d 700 private');
      expect(was).toContain('d 755 deep/er/empty');
      expect(await bash(there!, agent, 'git status --porcelain --ignored | head -1', 'whole')).not.toBe('');
    });

    test('a fork of a snapshot has the content of the snapshot, also if another server took it', async () => {
      const { agent, workspaceId } = await newAgent();
      await bash(here!, agent, 'mkdir -p d/e && echo old > d/e/f && echo kept > k && chmod 700 k && echo b > kind');
      await call(here!, agent, 'snapshot_create', { name: 'then' });
      await bash(here!, agent, 'rm -r d && echo new > k && chmod 644 k && rm kind && mkdir kind && echo n > kind/n');
      const answer = await there!.send('POST', `/v1/workspaces/${workspaceId}/forks`, {
        name: 'old',
        snapshot: 'then',
      });
      const { fork } = mustBe(201, answer);
      expect(await bucketOf(fork.workspaceId).all()).toEqual({ 'd/e/f': 'old\n', k: 'kept\n', kind: 'b\n' });
      expect(await bucketOf(fork.workspaceId).metadata('k')).toMatchObject({ 'croft-mode': '700' });
      for (const account of [here!, there!])
        expect(mustBe(200, await account.send('GET', `/v1/workspaces/${workspaceId}/forks`)).forks).toEqual([fork]);
      // Since the snapshot nothing was done in the fork, so that there is nothing to bring back.
      const merged = mustBe(200, await here!.send('POST', `/v1/workspaces/${workspaceId}/merge`, { fork: 'old' }));
      expect(merged).toMatchObject({ added: [], changed: [], removed: [] });
      const absent = { name: 'never', snapshot: 'absent' };
      mustBe(404, await here!.send('POST', `/v1/workspaces/${workspaceId}/forks`, absent));
    });

    test('a conflict is refused and changes nothing; a caller that decides it gets that result', async () => {
      const { agent, workspaceId } = await newAgent();
      await bash(here!, agent, 'echo base > f');
      await call(here!, agent, 'workspace_fork', { name: 'clash' });
      await bash(here!, agent, 'echo theirs > f; echo more > more', 'clash');
      await bash(here!, agent, 'echo ours > f', 'w');
      const refused = await there!.call(agent, 'workspace_merge', { workspace: 'w', fork: 'clash' });
      expect(refused.body.error).toMatchObject({
        code: 'E_CONFLICT',
        details: { conflicts: [{ path: 'f', reason: 'both changed' }] },
      });
      expect(await bucketOf(workspaceId).all()).toEqual({ f: 'ours\n' });
      await call(there!, agent, 'workspace_merge', { workspace: 'w', fork: 'clash', on_conflict: 'theirs' });
      expect(await bucketOf(workspaceId).all()).toEqual({ f: 'theirs\n', more: 'more\n' });
      await call(there!, agent, 'undo', { workspace: 'w' });
      expect(await bash(here!, agent, 'cat f; ls', 'w')).toBe('ours\nf\n');
    });

    test('undo in a fork never takes back the fork itself', async () => {
      const { agent } = await newAgent();
      await bash(here!, agent, 'echo base > f');
      await call(here!, agent, 'workspace_fork', { name: 'undone' });
      await here!.call(agent, 'undo', { workspace: 'undone' });
      await there!.call(agent, 'undo', { workspace: 'undone' });
      expect(await bash(there!, agent, 'cat f', 'undone')).toBe('base\n');
    });

    test('a fork removed on another server takes its objects with it, and its parent keeps its own', async () => {
      const { agent, workspaceId } = await newAgent();
      await bash(here!, agent, 'echo base > f');
      const { workspaceId: forkId } = await call(here!, agent, 'workspace_fork', { name: 'short' });
      await bash(here!, agent, 'echo more > g', 'short');
      await call(here!, agent, 'snapshot_create', { name: 'in-fork', workspace: 'short' });
      expect((await keptOf(forkId).keys()).length).toBeGreaterThan(0);
      await call(there!, agent, 'workspace_remove', { workspace: 'w', fork: 'short' });
      expect(await bucketOf(forkId).keys()).toEqual([]);
      expect(await keptOf(forkId).keys()).toEqual([]);
      mustBe(404, await here!.send('GET', `/v1/workspaces/${forkId}`));
      expect((await keptOf(workspaceId).keys()).filter((name) => name.startsWith('notes/fork/'))).toEqual([]);
      expect(await bash(here!, agent, 'cat f; ls', 'w')).toBe('base\nf\n');
      // The name is free again, and what is deleted as a workspace is no fork any more either.
      const again = await call(here!, agent, 'workspace_fork', { name: 'short' });
      await here!.send('PATCH', `/v1/agents/${agent}`, { config: { workspaces: [{ name: 'w', workspaceId }] } });
      mustBe(200, await here!.send('DELETE', `/v1/workspaces/${again.workspaceId}`));
      expect(mustBe(200, await there!.send('GET', `/v1/workspaces/${workspaceId}/forks`)).forks).toEqual([]);
    });

    test('a failed fork leaves no workspace, no object and no note', async () => {
      const { agent, sandbox, workspaceId } = await newAgent();
      await bash(here!, agent, 'echo base > f');
      await here!.newWorkspace({}, 'taken-name');
      const everywhere = asOtherTool({ ...gateway!, bucket: fixture.bucket, prefix: top, namespace: below });
      const namespaces = async () =>
        new Set((await everywhere.keys()).map((name) => /^(\.croft\/)?[^/]*/.exec(name)?.[0]));
      const before = await namespaces();
      const refused = await here!.call(agent, 'workspace_fork', { name: 'taken-name' });
      expect(refused.body.error.code).toBe('E_ALREADY_EXISTS');
      // All is in the bucket by then, and the agent cannot have one more.
      const full = Array.from({ length: maxWorkspaces }, (_, index) => ({ name: `w${index}`, workspaceId }));
      const laden = await here!.newAgent({ sandbox, workspaces: full });
      const failed = await here!.call(laden, 'workspace_fork', { workspace: 'w0', name: 'one-more' });
      expect(failed.body.error).toMatchObject({ code: 'E_INVALID_INPUT' });
      const { workspaces } = mustBe(200, await here!.send('GET', '/v1/workspaces?limit=200'));
      expect(workspaces.map(({ name }: { name: string }) => name)).not.toContain('one-more');
      expect(await namespaces()).toEqual(before);
      expect((await keptOf(workspaceId).keys()).filter((name) => name.startsWith('notes/fork/'))).toEqual([]);
      expect(mustBe(200, await there!.send('GET', `/v1/workspaces/${workspaceId}/forks`)).forks).toEqual([]);
    });

    test('only the agent that forked has the fork, with the permissions of the parent', async () => {
      const { sandbox, agent, workspaceId } = await newAgent('edit');
      await call(here!, agent, 'write', { file_path: 'f', content: 'mine\n' });
      const other = await here!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
      const { workspaceId: forkId } = await call(here!, agent, 'workspace_fork', { name: 'mine' });
      expect((await there!.call(agent, 'bash', { workspace: 'mine', command: 'true' })).status).toBe(202);
      expect((await call(there!, agent, 'read', { workspace: 'mine', file_path: 'f' })).content).toBe('mine\n');
      for (const account of [here!, there!]) {
        expect((await account.call(other, 'read', { workspace: 'mine', file_path: 'f' })).status).not.toBe(200);
        expect((await account.call(other, 'workspace_merge', { fork: 'mine' })).status).toBe(404);
        expect((await account.call(other, 'workspace_remove', { fork: 'mine' })).status).toBe(404);
      }
      const reader = await here!.newAgent({ workspaces: [{ name: 'w', workspaceId }] });
      expect((await here!.call(reader, 'workspace_fork', { name: 'reader' })).status).not.toBe(200);
      const stranger = await addAccount(fixture.servers[0]!, 'bob');
      mustBe(404, await stranger.send('GET', `/v1/workspaces/${workspaceId}/forks`));
      mustBe(404, await stranger.send('GET', `/v1/workspaces/${forkId}`));
    });

    test('the server that forked may be killed: another server has the fork, and merges it', async () => {
      const { agent } = await newAgent();
      const server = await fixture.start();
      const doomed = moveTo(server, here!);
      await bash(doomed, agent, 'printf "1\\n2\\n3\\n" > f');
      await call(doomed, agent, 'workspace_fork', { name: 'orphan' });
      await bash(doomed, agent, 'sed -i s/1/one/ f', 'orphan');
      await bash(doomed, agent, 'sed -i s/3/three/ f', 'w');
      await kill(server);
      await call(here!, agent, 'workspace_merge', { workspace: 'w', fork: 'orphan' });
      expect(await bash(there!, agent, 'cat f', 'w')).toBe('one\n2\nthree\n');
    });
  },
);
