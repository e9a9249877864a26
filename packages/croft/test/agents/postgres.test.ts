import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { followEvents } from '../support/follow-events.ts';
import {
  addAccount,
  type Installation,
  kill,
  moveTo,
  openInstallation,
  openNeighbours,
  type Server,
} from '../support/servers/installation.ts';
import { type Account, connectAgent, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

async function newAgent(account: Account, permissionMode = 'bypass') {
  const [sandbox, workspaceId] = [await account.newSandbox({ permissionMode }), await account.newWorkspace()];
  return { sandbox, agent: await account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] }) };
}

describe.skipIf(!postgres)('on PostgreSQL', () => {
  test('an account, an agent, a call, an approval, and a session that outlives the server', async () => {
    await using ownInstallation = openInstallation(['--database-url', await postgres!.createDatabase()]);
    const first = await ownInstallation.start();
    const ann = await addAccount(first, 'ann');
    const { agent } = await newAgent(ann);
    const careful = (await newAgent(ann, 'ask')).agent;
    mustBe(200, await ann.call(agent, 'write', { file_path: 'sub/a.txt', content: 'one\n' }));
    mustBe(200, await ann.call(agent, 'cd', { path: 'sub' }));
    expect(mustBe(200, await ann.call(agent, 'bash', { command: 'cat a.txt' })).output).toBe('one\n');
    const hello = { command: 'echo hello' };
    const { approval } = mustBe(202, await ann.call(careful, 'bash', hello));
    mustBe(200, await ann.approve(approval.approvalId));
    await kill(first);

    const again = moveTo(await ownInstallation.start(), ann);
    mustBe(200, await again.call(agent, 'edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }));
    const claim = { 'croft-approval': approval.approvalId };
    expect(mustBe(200, await again.call(careful, 'bash', hello, claim)).output).toBe('hello\n');
    expect((await again.call(careful, 'bash', hello, claim)).body.error.code).toBe('E_APPROVAL_MISMATCH');
    expect(await ownInstallation.croft('audit', 'verify')).toMatchObject({ exitCode: 0 });
    expect((await ownInstallation.croft('server', 'keys', 'rotate')).stdout).toMatch(/^added key k/);
    const rotated = await ownInstallation.croft('server', 'keys', 'rotate');
    expect(rotated).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^sealed 7 records/) });
  });

  describe('two servers on one database, with the same files of workspaces', () => {
    let installations: Installation[] = [];
    let servers: Server[];
    let [here, there]: Account[] = [];

    beforeAll(async () => {
      installations = openNeighbours(['--database-url', await postgres!.createSchema(), '--approval-wait', '20']);
      // Both at once, on a database that neither has prepared.
      servers = await Promise.all(installations.map((ownInstallation) => ownInstallation.start()));
      const ann = await addAccount(servers[0]!, 'ann');
      [here, there] = servers.map((server) => moveTo(server, ann));
    });

    afterAll(async () => {
      for (const ownInstallation of installations.toReversed()) await ownInstallation[Symbol.asyncDispose]();
    });

    test('show the events of both to whoever follows one, and after a change of the server, without a gap', async () => {
      const { agent } = await newAgent(here!);
      const headers = { authorization: `Bearer ${here!.secret}` };
      const follow = (account: Account, lastId?: string) =>
        followEvents(`${account.url}/v1/events`, { ...headers, ...(lastId && { 'last-event-id': lastId }) });
      const write = async (account: Account, path: string) =>
        mustBe(200, await account.call(agent, 'write', { file_path: path, content: 'x' }));
      const titles = (feed: Awaited<ReturnType<typeof follow>>) =>
        feed.rows().flatMap(({ action, details }) => (action === 'call.ended' ? [JSON.parse(details).title] : []));
      const wait = (feed: Awaited<ReturnType<typeof follow>>, wanted: readonly string[]) =>
        vi.waitFor(() => expect(titles(feed)).toEqual(wanted), { timeout: 30_000, interval: 20 });

      const first = await follow(here!);
      const ordered = Array.from({ length: 12 }, (_, index) => `${index}.txt`);
      for (const [index, path] of ordered.entries()) await write(index % 2 === 0 ? here! : there!, path);
      await wait(first, ordered);
      const sequences = first.rows().map(({ sequence }) => sequence);
      expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
      first[Symbol.dispose]();
      for (const path of ['a.txt', 'b.txt']) await write(path === 'a.txt' ? here! : there!, path);
      using second = await follow(there!, first.lastId());
      await write(here!, 'c.txt');
      await wait(second, ['a.txt', 'b.txt', 'c.txt']);
    });

    test('serve one session in turns', async () => {
      const { agent } = await newAgent(here!);
      mustBe(200, await here!.call(agent, 'write', { file_path: 'sub/a.txt', content: '0\n' }));
      for (let turn = 0; turn < 6; turn += 1) {
        const [one, other] = turn % 2 === 0 ? [here!, there!] : [there!, here!];
        const file_path = turn === 0 ? 'sub/a.txt' : 'a.txt';
        expect(mustBe(200, await one.call(agent, 'read', { file_path })).content).toBe(`${turn}\n`);
        const edit = { file_path, old_string: `${turn}`, new_string: `${turn + 1}` };
        mustBe(200, await other.call(agent, 'edit', edit));
        if (turn === 0) mustBe(200, await one.call(agent, 'cd', { path: 'sub' }));
      }
      expect(mustBe(200, await there!.call(agent, 'bash', { command: 'pwd' })).output).toBe('/workspaces/w/sub\n');
      mustBe(200, await there!.call(agent, 'cd', { path: '..' }));
      expect(mustBe(200, await here!.call(agent, 'bash', { command: 'pwd' })).output).toBe('/workspaces/w\n');
      const { shell_id } = mustBe(
        200,
        await here!.call(agent, 'bash', { command: 'sleep 600', run_in_background: true }),
      );
      const elsewhere = await there!.call(agent, 'bash_output', { shell_id });
      expect(elsewhere.body.error).toMatchObject({
        code: 'E_NOT_RUNNING',
        message: expect.stringContaining('is not on this server: it was started on another server'),
        hint: expect.stringContaining('there it may still be running'),
      });
      expect(mustBe(200, await here!.call(agent, 'bash_output', { shell_id })).status).toBe('running');
    });

    test('request an approval on one and decide it on the other: the waiting call goes on', async () => {
      const { agent } = await newAgent(here!, 'ask');
      await using client = await connectAgent(here!, agent);
      const running = client.call('write', { file_path: 'a.txt', content: 'agreed\n' });
      const pending = async () => mustBe(200, await there!.send('GET', '/v1/approvals?state=pending')).approvals;
      await expect.poll(pending).toHaveLength(1);
      const [{ approvalId }] = await pending();
      const decisions = await Promise.all([
        there!.approve(approvalId),
        here!.deny(approvalId),
        there!.approve(approvalId),
      ]);
      expect(decisions.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const { state } = mustBe(200, await here!.send('GET', `/v1/approvals/${approvalId}`)).approval;
      expect(await running).toMatchObject({ isError: state === 'denied' });
      const { paths } = mustBe(200, await there!.call(agent, 'glob', { pattern: '*' }));
      expect(paths).toEqual(state === 'denied' ? [] : ['a.txt']);

      const bash = { command: 'echo once >> log' };
      const { approval } = mustBe(202, await here!.call(agent, 'bash', bash));
      mustBe(200, await there!.approve(approval.approvalId));
      const claim = { 'croft-approval': approval.approvalId };
      const claims = Array.from({ length: 8 }, (_, index) =>
        (index % 2 ? here! : there!).call(agent, 'bash', bash, claim),
      );
      expect((await Promise.all(claims)).filter(({ status }) => status === 200)).toHaveLength(1);
      expect(mustBe(200, await here!.call(agent, 'read', { file_path: 'log' })).content).toBe('once\n');
    });

    test('create a name once, and a record for an Idempotency-Key once', async () => {
      const post = (on: Account, name: string, key?: string) =>
        on.send('POST', '/v1/sandboxes', { name, config: {} }, key === undefined ? {} : { 'idempotency-key': key });
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all([here!, there!, here!, there!].map((on) => post(on, `name-${round}`)));
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
        const same = await Promise.all([here!, there!].map((on) => post(on, `key-${round}`, `key-${round}`)));
        expect(new Set(same.map((answer) => mustBe(201, answer).sandboxId)).size).toBe(1);
      }
    });

    test('see the changes of the other at once, removals too', async () => {
      const { agent, sandbox } = await newAgent(here!);
      mustBe(200, await there!.call(agent, 'bash', { command: 'true' }));
      mustBe(200, await here!.send('PATCH', `/v1/sandboxes/${sandbox}`, { config: { permissionMode: 'ask' } }));
      expect((await there!.call(agent, 'bash', { command: 'true' })).status).toBe(202);
      const { key, secret } = mustBe(201, await here!.send('POST', '/v1/keys', { name: 'k', scopes: ['*'] }));
      const guest = { ...there!, secret };
      expect((await moveTo(guest, guest).tools(agent)).map(({ name }) => name)).toContain('bash');
      mustBe(200, await here!.send('DELETE', `/v1/keys/${key.keyId}`));
      expect((await moveTo(guest, guest).send('GET', '/v1/account')).status).toBe(401);
      mustBe(200, await here!.send('PATCH', `/v1/agents/${agent}`, { config: { sandbox: null } }));
      expect((await there!.call(agent, 'bash', { command: 'true' })).body.error.code).toBe('E_UNKNOWN_TOOL');
      mustBe(200, await there!.send('DELETE', `/v1/agents/${agent}`));
      expect((await here!.call(agent, 'read', { file_path: 'a' })).status).toBe(404);
    });

    test('open a new workspace at the same time, and keep the files of both', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { agent } = await newAgent(here!);
        const names = Array.from({ length: 6 }, (_, index) => `${index}.txt`);
        const write = (file_path: string, index: number) =>
          (index % 2 ? here! : there!).call(agent, 'write', { file_path, content: '' }, { 'croft-session': file_path });
        for (const answer of await Promise.all(names.map(write))) mustBe(200, answer);
        expect(mustBe(200, await here!.call(agent, 'glob', { pattern: '*' })).paths.sort()).toEqual(names);
      }
    });

    test('share the memory of an agent', async () => {
      const { agent } = await newAgent(here!);
      for (const [on, title] of [[here!, 'one'] as const, [there!, 'two'] as const, [here!, 'three'] as const])
        mustBe(200, await on.call(agent, 'memory_save', { title, content: `about ${title}` }));
      const { prompt } = mustBe(200, await there!.send('GET', `/v1/agents/${agent}/prompt`));
      for (const title of ['one', 'two', 'three']) expect(prompt).toContain(`## ${title}\n\nabout ${title}`);
    });
  });
});
