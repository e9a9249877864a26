import { createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { createClient } from '@croft/sdk';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addAccount } from '../support/servers/installation.ts';
import { connectAgent, mustBe } from '../support/servers/platform.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { connectTerminal, newTicket } from '../terminals/fixture.ts';
import { newAgent, startCluster, type TestCluster } from './fixture.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** The header as servers sign it, so that a change of its form is noticed. */
function signHeader(cluster: TestCluster, claims: object): string {
  const pepper = Buffer.from(/pepper (\S+?),/.exec(cluster.env.CROFT_KEYS)?.[1] ?? '', 'base64url');
  const key = Buffer.from(hkdfSync('sha256', pepper, '', 'croft servers', 32));
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const signature = createHmac('sha256', key).update('croft forward 1\0').update(text).digest('base64url');
  return `${text}.${signature}`;
}

/** A shell loop that prints numbered lines. The second half waits for a key, so that it is never there before a cut. */
const count = (from: number, to: number) => `for i in $(seq ${from} ${to}); do echo line-$i; done`;

describe.skipIf(!postgres)('a request at a server that does not have its workspace', () => {
  let cluster: TestCluster;
  let made: Awaited<ReturnType<typeof newAgent>>;
  const here = () => cluster.at(0);
  const there = () => cluster.at(1);

  beforeAll(async () => {
    cluster = await startCluster(postgres!, {
      args: ['--account-limit', 'requests=100000'],
      env: { CROFT_MAX_UPLOAD: '1g' },
    });
    made = await newAgent(here());
    mustBe(200, await here().call(made.agent, 'write', { file_path: 'a.txt', content: 'one\n' }));
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test('a persistent sandbox that both servers are asked for at once is one, and is set up once', async () => {
    const settings = { persistent: true, onCreate: ['echo made >> made'] };
    const { agent, sandboxId } = await newAgent(here(), {}, settings);
    const first = Array.from({ length: 40 }, (_, index) =>
      cluster.at(index % 2).call(agent, 'bash', { command: 'echo >> /tmp/used' }, { 'croft-session': `s${index}` }),
    );
    for (const answer of await Promise.all(first)) mustBe(200, answer);
    const { output } = mustBe(200, await there().call(agent, 'bash', { command: 'wc -l < made; wc -l < /tmp/used' }));
    expect(output).toBe('1\n40\n');
    const open = await Promise.all([here(), there()].map((at) => at.send('GET', `/v1/sandboxes/${sandboxId}/live`)));
    expect(open.flatMap((answer) => mustBe(200, answer).open)).toHaveLength(1);
  });

  test('is answered as by the server that has it, over REST and MCP of both versions', async () => {
    const { agent, workspaceId } = made;
    for (const [tool, input] of [
      ['read', { file_path: 'a.txt' }],
      ['bash', { command: 'cat a.txt; echo $((6 * 7)); exit 3' }],
      ['read', { file_path: 'missing' }],
      ['nothing', {}],
    ] as const) {
      const [own, forwarded] = [await here().call(agent, tool, input), await there().call(agent, tool, input)];
      const comparable = ({ status, body }: typeof own) => ({ status, body: withoutTimes(body) });
      expect(comparable(forwarded)).toEqual(comparable(own));
    }
    for (const path of ['files', 'checkpoints', 'snapshots', 'forks', 'file?path=a.txt'])
      expect(await raw(there(), `/v1/workspaces/${workspaceId}/${path}`)).toEqual(
        await raw(here(), `/v1/workspaces/${workspaceId}/${path}`),
      );
    for (const era of ['2025', '2026'] as const) {
      await using client = await connectAgent(there(), agent, { era });
      expect((await client.call('read', { file_path: 'a.txt' })).text).toContain('one');
      expect((await client.call('bash', { command: 'echo $((6 * 7))' })).text).toContain('42');
    }
  });

  test('is followed while it runs: each part of its output comes through the other server before its end', async () => {
    const { agent } = made;
    const { url, secret } = there();
    const client = createClient({ baseUrl: url, token: secret });
    const pieces: string[] = [];
    const command = 'echo one; until [ -e seen ]; do read -rt 0.05 <> <(:); done; rm seen; seq 100000';
    const { result } = await client.agent(agent).call(
      'run_command',
      { cmd: 'bash', args: ['-c', command] },
      {
        onOutput({ text }) {
          if (pieces.length === 0) void here().call(agent, 'write', { file_path: 'seen', content: '' });
          pieces.push(text);
        },
      },
    );
    const wanted = `one\n${Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join('')}`;
    expect(pieces.join('') === wanted).toBe(true);
    expect(result?.exitCode).toBe(0);
    const gone = new AbortController();
    const cut = client
      .agent(agent)
      .call('bash', { command: 'echo go; sleep 4323' }, { signal: gone.signal, onOutput: () => gone.abort() });
    await expect(cut).rejects.toThrow();
    const left = 'cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 43[2]3"';
    await vi.waitFor(
      async () => expect(mustBe(200, await here().call(agent, 'bash', { command: left })).output.trim()).toBe('0'),
      { timeout: 20_000 },
    );
  });

  test('streams a large upload and download with bounded memory', async () => {
    const { workspaceId } = made;
    const size = 256 * 1024 * 1024;
    const block = randomBytes(1024 * 1024);
    const before = memoryOf(cluster.servers[1]!.child.pid!);
    let most = before;
    using _ = repeat(() => (most = Math.max(most, memoryOf(cluster.servers[1]!.child.pid!))));
    const path = new URL(`/v1/workspaces/${workspaceId}/file?path=big.bin`, there().url);
    const sending = request(path, {
      method: 'PUT',
      headers: { authorization: `Bearer ${there().secret}`, 'content-length': String(size) },
    });
    Readable.from(Array.from({ length: size / block.length }, () => block)).pipe(sending);
    const [answer] = await once(sending, 'response');
    answer.resume();
    expect(answer.statusCode).toBeLessThan(300);
    const response = await fetch(path, { headers: { authorization: `Bearer ${there().secret}` } });
    const got = Buffer.from(await response.arrayBuffer());
    const sent = Buffer.concat(Array.from({ length: size / block.length }, () => block));
    expect(hash('sha256', got)).toBe(hash('sha256', sent));
    expect(most - before).toBeLessThan(128 * 1024 * 1024);
  });

  test('opens a terminal there, and gets every byte once after a cut', async () => {
    const ticket = async (more: object = {}) => (await newTicket(there(), made, more)).path;
    using first = connectTerminal(there().url, await ticket());
    const { terminal } = (await first.untilMessage('attached')) as { terminal: string };
    first.type(`stty -echo; PS1=; ${count(1, 10_000)}; read -r _; ${count(10_001, 20_000)}; echo all done\n`);
    await first.untilText(/line-100\r/);
    first.socket.terminate();
    await first.untilClosed();
    const from = first.length();
    using second = connectTerminal(there().url, await ticket({ terminal, from }));
    await second.untilMessage('attached');
    second.type('\n');
    using _ = repeat(() => second.say({ type: 'ack', offset: from + second.length() }), 5);
    await second.untilText(/all done\r\n/);
    const whole = Buffer.concat([first.bytes(), second.bytes()]).toString();
    expect(whole.match(/line-\d+/g)).toEqual(Array.from({ length: 20_000 }, (_, index) => `line-${index + 1}`));
  });

  test('is not forwarded with a forged, replayed or looped header', async () => {
    const { agent } = made;
    const [row] = await postgres!.execute(
      cluster.url,
      `SELECT server_id FROM servers WHERE address = '${cluster.servers[1]!.url}'`,
    );
    const path = `/v1/agents/${agent}/tools/read`;
    const claims = { to: String(row?.server_id), epoch: 0, method: 'POST', path, at: Date.now() };
    const ask = (header: string) => there().call(agent, 'read', { file_path: 'a.txt' }, { 'croft-forward': header });
    const looped = await ask(signHeader(cluster, claims));
    expect(looped).toMatchObject({ status: 508, body: { error: { code: 'E_FORWARD_LOOP' } } });
    expect((await ask(signHeader(cluster, { ...claims, at: claims.at - 11_000 }))).status).toBe(401);
    expect((await ask(signHeader(cluster, { ...claims, path: '/v1/account' }))).status).toBe(401);
    const [text] = signHeader(cluster, claims).split('.');
    expect((await ask(`${text}.${randomBytes(32).toString('base64url')}`)).status).toBe(401);
    expect((await ask('x')).status).toBe(401);
  });

  test('of another account finds nothing', async () => {
    const bob = await addAccount(cluster.servers[1]!, 'bob');
    const { agent, workspaceId, sandboxId } = made;
    expect(await bob.call(agent, 'read', { file_path: 'a.txt' })).toMatchObject({ status: 404 });
    expect(await bob.send('GET', `/v1/workspaces/${workspaceId}/files`)).toMatchObject({ status: 404 });
    expect(await bob.send('POST', `/v1/sandboxes/${sandboxId}/terminals`, { workspaceId })).toMatchObject({
      status: 404,
    });
  });

  test('is served by servers of the protocol before and after, and by no other', async () => {
    const { agent } = made;
    const call = () => there().call(agent, 'read', { file_path: 'a.txt' });
    const set = (protocol: number) =>
      postgres!.execute(
        cluster.url,
        `UPDATE servers SET protocol = ${protocol} WHERE address = '${cluster.servers[0]!.url}'`,
      );
    for (const protocol of [2, 0]) {
      await set(protocol);
      mustBe(200, await call());
    }
    await set(3);
    await expect.poll(async () => (await call()).body.error?.code, { timeout: 10_000 }).toBe('E_OTHER_SERVER');
    await set(1);
    await expect.poll(async () => (await call()).status, { timeout: 10_000 }).toBe(200);
  });

  test('counts for one rate of the account on all servers', async () => {
    const few = await startCluster(postgres!, { args: ['--account-limit', 'requests=40'] });
    await using _ = few;
    const beats = () => postgres!.execute(few.url, 'SELECT beat_at FROM servers ORDER BY beat_at');
    const [, last] = await beats();
    // Each server learns of the other by its next beat.
    await expect
      .poll(async () => String((await beats())[0]?.beat_at) > String(last?.beat_at), { timeout: 10_000 })
      .toBe(true);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => few.at(index % 2).send('GET', '/v1/account')),
    );
    const allowed = answers.filter(({ status }) => status === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(36);
    expect(allowed).toBeLessThanOrEqual(44);
  });
});

function withoutTimes(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body ?? null).replace(/"(duration\w*|call\w*|checkpoint\w*)":("[^"]*"|[\d.]+),?/g, ''),
  );
}

async function raw({ url, secret }: { url: string; secret: string }, path: string) {
  const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${secret}` } });
  return { status: response.status, text: await response.text(), type: response.headers.get('content-type') };
}

function repeat(look: () => void, ms = 50): Disposable {
  const timer = setInterval(look, ms);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}
