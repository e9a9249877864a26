import { randomBytes } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namespaceOf } from '../../src/storages/index.ts';
import { startS3Gateway } from '../support/s3/s3-server.ts';
import { startBucketServers } from '../support/servers/bucket-servers.ts';
import { kill, moveTo } from '../support/servers/installation.ts';
import { type Account, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const [gateway, postgres] = [await startS3Gateway(), await startPostgres()];
afterAll(async () => {
  await gateway?.stop();
  await postgres?.[Symbol.asyncDispose]();
});

describe.skipIf(!gateway || !postgres)(
  'workspaces in a bucket, on servers that share only the bucket and the database',
  () => {
    const prefix = `agents-${randomBytes(4).toString('hex')}`;
    let fixture: Awaited<ReturnType<typeof startBucketServers>>;
    let [here, there]: Account[] = [];

    beforeAll(async () => {
      fixture = await startBucketServers(gateway!, postgres!, prefix);
      ({ here, there } = fixture);
    });

    afterAll(() => fixture?.[Symbol.asyncDispose]());

    async function newAgent(config: object = {}, { reads = undefined as null | undefined } = {}) {
      const workspaceId = await here!.newWorkspace({ storage: { provider: 's3' }, ...config });
      const sandbox = await here!.newSandbox({ permissionMode: 'bypass' });
      const agent = await here!.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
      const reader = await here!.newAgent({
        workspaces: [{ name: 'w', workspaceId, ...(reads === null && { sandbox: null }) }],
      });
      const namespace = namespaceOf(here!.accountId, workspaceId);
      const outside = fixture.outside(namespace);
      return { workspaceId, agent, reader, namespace, outside };
    }

    const bash = async (account: Account, agent: string, command: string) =>
      mustBe(200, await account.call(agent, 'bash', { command })).output as string;

    test('the changes of a call are in the bucket when it is answered, readable for any S3 tool', async () => {
      const { agent, outside } = await newAgent();
      mustBe(200, await here!.call(agent, 'write', { file_path: 'src/a.txt', content: 'one\n' }));
      expect(await outside.all()).toEqual({ 'src/a.txt': 'one\n' });
      await bash(
        here!,
        agent,
        'mkdir -p bin && echo run > bin/x && chmod 755 bin/x && ln -s bin/x link && mv src/a.txt b.txt && rmdir src',
      );
      expect(await outside.all()).toEqual({ 'b.txt': 'one\n', 'bin/x': 'run\n', link: 'bin/x' });
      expect(await outside.metadata('bin/x')).toMatchObject({ 'croft-mode': '755' });
      mustBe(200, await here!.call(agent, 'delete', { path: 'b.txt' }));
      expect(Object.keys(await outside.all())).toEqual(['bin/x', 'link']);
    });

    test('a commit of one server is seen by the next call on the other, modes and links too', async () => {
      const { agent } = await newAgent();
      for (let turn = 0; turn < 5; turn++) {
        const [one, other] = turn % 2 === 0 ? [here!, there!] : [there!, here!];
        await bash(one, agent, `echo ${turn} > f && install -m 750 f run-${turn} && ln -sfn run-${turn} last`);
        const seen = await bash(other, agent, 'cat f; readlink last; stat -L -c %a last');
        expect(seen).toBe(`${turn}\nrun-${turn}\n750\n`);
        expect(mustBe(200, await other.call(agent, 'read', { file_path: 'f' })).content).toBe(`${turn}\n`);
      }
    });

    test('a file that a linter changed is restored in the bucket too', async () => {
      const { agent, outside } = await newAgent();
      const eslint = `#!/bin/sh\nsed -i "s/  */ /g" src/a.js; echo '[{"filePath":"src/a.js","messages":[]}]'\n`;
      const tree = {
        'package.json': '{}',
        'eslint.config.js': '',
        '.gitignore': 'node_modules\n',
        'src/a.js': 'let  a;\n',
      };
      for (const [path, content] of Object.entries({ ...tree, 'node_modules/.bin/eslint': eslint }))
        mustBe(200, await here!.call(agent, 'write', { file_path: path, content }));
      await bash(here!, agent, 'chmod 755 node_modules/.bin/eslint; printf "let  a;\\n" > src/a.js');
      const { runs, notices } = mustBe(200, await here!.call(agent, 'run_lint'));
      expect({ runs, notices }).toMatchObject({
        runs: [{ tool: 'eslint', putBack: ['src/a.js'] }],
        notices: undefined,
      });
      expect((await outside.all())['src/a.js']).toBe('let  a;\n');
      expect(await bash(there!, agent, 'cat src/a.js')).toBe('let  a;\n');
    });

    test('a call that changes a file which another tool changes meanwhile is told, and both versions are stored', async () => {
      const { agent, outside, namespace } = await newAgent();
      mustBe(200, await here!.call(agent, 'write', { file_path: 'f', content: 'base\n' }));
      await bash(there!, agent, 'cat f');
      const changing = there!.call(agent, 'bash', { command: 'echo left > f; echo left > own-left; sleep 2' });
      const own = `${fixture.servers[0]!.data}/mounts/${namespace}/**/own-left`;
      await expect.poll(() => globSync(own)).toHaveLength(1);
      await outside.write('f', 'right\n');
      const { body } = await changing;
      expect(body.error).toMatchObject({
        code: 'E_CONFLICT',
        details: { conflicts: [{ path: 'f', kept: expect.any(String) }] },
      });
      const { kept } = body.error.details.conflicts[0];
      const all = await outside.all();
      expect([all.f, all[kept]].sort()).toEqual(['left\n', 'right\n']);
      expect(all).toMatchObject({ 'own-left': 'left\n' });
      for (const account of [here!, there!])
        expect(await bash(account, agent, `cat f '${kept}'`)).toBe(all.f! + all[kept]!);
    });

    test('an agent without a sandbox can read: through a mount that is refreshed, or straight from the bucket', async () => {
      const mounted = await newAgent();
      const direct = await newAgent({}, { reads: null });
      for (const { agent, reader, namespace } of [mounted, direct]) {
        await bash(here!, agent, 'mkdir -p src && echo one > src/a.ts && echo two > b.ts && echo b.ts > .gitignore');
        expect(mustBe(200, await there!.call(reader, 'glob', { pattern: '**/*.ts' })).paths).toEqual(['src/a.ts']);
        expect(mustBe(200, await there!.call(reader, 'read', { file_path: 'b.ts' })).content).toBe('two\n');
        await bash(here!, agent, 'echo three > b.ts');
        expect(mustBe(200, await there!.call(reader, 'read', { file_path: 'b.ts' })).content).toBe('three\n');
        expect(existsSync(join(fixture.servers[1]!.data, 'mounts', namespace))).toBe(false);
      }
    });

    test('a snapshot of one server can be restored on the other, and undo works there too', async () => {
      const { agent, outside } = await newAgent();
      await bash(here!, agent, 'echo good > a; echo kept > b');
      mustBe(200, await here!.call(agent, 'snapshot_create', { name: 'good' }));
      await bash(here!, agent, 'rm b; echo bad > a; echo new > c');
      mustBe(200, await there!.call(agent, 'snapshot_restore', { name: 'good' }));
      expect(await outside.all()).toEqual({ a: 'good\n', b: 'kept\n' });
      await bash(there!, agent, 'rm -f a b');
      mustBe(200, await there!.call(agent, 'undo', {}));
      expect(await outside.all()).toEqual({ a: 'good\n', b: 'kept\n' });
      expect(await bash(here!, agent, 'cat a b')).toBe('good\nkept\n');
    });

    test('an upload over REST is in the bucket, and is removed with the workspace', async () => {
      const { agent, workspaceId, outside } = await newAgent();
      const put = await fetch(new URL(`/v1/workspaces/${workspaceId}/file?path=in/x.bin`, here!.url), {
        method: 'PUT',
        headers: { authorization: `Bearer ${here!.secret}`, 'content-type': 'application/octet-stream' },
        body: Buffer.from('bytes'),
      });
      expect(put.status).toBe(201);
      expect(await outside.all()).toEqual({ 'in/x.bin': 'bytes' });
      expect(await bash(there!, agent, 'cat in/x.bin')).toBe('bytes');
      mustBe(409, await here!.send('DELETE', `/v1/workspaces/${workspaceId}`));
      for (const { agentId } of mustBe(200, await here!.send('GET', '/v1/agents')).agents)
        await here!.send('DELETE', `/v1/agents/${agentId}`);
      mustBe(200, await here!.send('DELETE', `/v1/workspaces/${workspaceId}`));
      expect(await outside.keys()).toEqual([]);
    });

    test('a change over the quota is not acknowledged, and a change that frees space is', async () => {
      const { agent, workspaceId, outside } = await newAgent({ quota: { bytes: 100, files: 3 } });
      mustBe(200, await here!.call(agent, 'write', { file_path: 'a', content: 'x'.repeat(60) }));
      const refused = await here!.call(agent, 'write', { file_path: 'b', content: 'x'.repeat(60) });
      expect(refused.body.error).toMatchObject({ code: 'E_QUOTA', message: expect.stringContaining('120') });
      expect(Object.keys(await outside.all())).toEqual(['a']);
      const run = await here!.call(agent, 'bash', { command: 'mv a moved; head -c 90000 /dev/zero > large' });
      expect(run.body.error).toMatchObject({ code: 'E_QUOTA', details: { takenBack: ['a', 'large', 'moved'] } });
      expect(await bash(here!, agent, 'ls')).toBe('a\n');
      mustBe(200, await here!.call(agent, 'write', { file_path: 'c', content: 'x'.repeat(40) }));
      expect(Object.keys(await outside.all()).sort()).toEqual(['a', 'c']);

      mustBe(
        200,
        await here!.send('PATCH', `/v1/workspaces/${workspaceId}`, { config: { quota: { bytes: 10, files: 3 } } }),
      );
      const grown = await here!.call(agent, 'write', { file_path: 'c', content: 'x'.repeat(41) });
      expect(grown.body.error.code).toBe('E_QUOTA');
      mustBe(200, await here!.call(agent, 'write', { file_path: 'c', content: 'x'.repeat(20) }));
      mustBe(200, await here!.call(agent, 'delete', { path: 'a' }));
      expect(await outside.all()).toEqual({ c: 'x'.repeat(20) });
    });

    test('no acknowledged change is lost with a server that is killed', async () => {
      const { agent } = await newAgent();
      const server = await fixture.start();
      const doomed = moveTo(server, here!);
      for (let count = 0; count < 5; count++) await bash(doomed, agent, `echo ${count} >> log`);
      await kill(server);
      expect(await bash(here!, agent, 'cat log')).toBe('0\n1\n2\n3\n4\n');
    });

    test('during an outage of the bucket reads go on, and no change is lost or reported as stored', async () => {
      const { agent, outside } = await newAgent();
      const queueing = await newAgent({ storage: { provider: 's3', onOutage: 'queue' } });
      for (const one of [agent, queueing.agent])
        mustBe(200, await here!.call(one, 'write', { file_path: 'f', content: 'before\n' }));
      await gateway!.kill();
      expect(mustBe(200, await here!.call(agent, 'read', { file_path: 'f' })).content).toBe('before\n');
      const refused = await here!.call(agent, 'write', { file_path: 'g', content: 'meanwhile\n' });
      expect(refused.body.error).toMatchObject({
        code: 'E_STORAGE_UNAVAILABLE',
        hint: expect.stringContaining('Nothing was done'),
      });
      mustBe(200, await here!.call(queueing.agent, 'write', { file_path: 'g', content: 'queued\n' }));
      await gateway!.restart();
      const again = () => here!.call(agent, 'write', { file_path: 'g', content: 'again\n' });
      await expect.poll(async () => (await again()).status, { timeout: 60_000 }).toBe(200);
      expect((await outside.all()).g).toBe('again\n');
      await expect.poll(async () => (await queueing.outside.all()).g, { timeout: 60_000 }).toBe('queued\n');
      expect(await bash(there!, agent, 'cat f g')).toBe('before\nagain\n');
    });

    test('a bucket that cannot be opened is refused with advice', async () => {
      const own = { provider: 's3', bucket: 'b', endpoint: gateway!.endpoint };
      const auth = { type: 'secret', accessKeyId: 'x', secretName: 'NOT_THERE' };
      const { agent } = await newAgent({ storage: { ...own, auth } });
      const answer = await here!.call(agent, 'read', { file_path: 'f' });
      expect(answer.body.error).toMatchObject({ code: 'E_NOT_FOUND', message: expect.stringContaining('NOT_THERE') });
      mustBe(200, await here!.send('PUT', '/v1/secrets/NOT_THERE', { value: 'secret-value' }));
      const inside = await here!.call(agent, 'read', { file_path: 'f' });
      expect(inside.body.error.code).toBe('E_INVALID_INPUT');
      expect(JSON.stringify(inside.body)).not.toMatch(/secret-value|127\.0\.0\.1/);
    });
  },
);
