import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createSession } from '../../src/core/session.ts';
import { createSessionMemory } from '../../src/core/session-memory.ts';
import { openRecords } from '../../src/records/index.ts';
import { namespaceOf } from '../../src/storages/index.ts';
import { croft, makeDirectory } from '../harness.ts';
import { startPostgres } from '../postgres.ts';
import { type Account, type Answer, adminToken, type Json, mustBe, openAccount } from './ground.ts';
import { addAccount, type House, moveTo, openHouse, type Server } from './servers.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.[Symbol.asyncDispose]());

/** Somebody who does one thing after another, knows what was acknowledged, and looks whether it is still there. */
interface Lane {
  step(account: Account): Promise<void>;
  /** After a kill: what was under way is there or is not, and is known from now on. */
  settle(account: Account): Promise<void>;
  /** What the trail has to have of it: an action and its target. */
  readonly trail: readonly string[];
}

const stores = postgres ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const);
const roundsOf = { sqlite: 3, postgres: 2 };
const maxMs = { sqlite: 12_000, postgres: 8000 };

describe.each(stores)('kill −9 under load, on %s', (store) => {
  test('nothing acknowledged is lost, what was not is whole or not there, and the trail is unbroken', async () => {
    await using house = openHouse(store === 'postgres' ? ['--database-url', await postgres!.createSchema()] : []);
    await killFirstStarts(house, store === 'sqlite' ? ['keys', 'croft.db', 'croft.db-wal'] : ['keys']);
    let server = await house.start();
    const account = await addAccount(server, 'ann');
    const { lanes, resting } = await furnish(account);
    const endAt = performance.now() + maxMs[store];
    const counts = fc.sample(fc.integer({ min: 15, max: 120 }), { numRuns: roundsOf[store] });
    for (const [round, count] of counts.entries()) {
      if (round > 1 && performance.now() > endAt) break;
      const before = await resting.begin(moveTo(server, account));
      await loadUntilKilled(server, account, lanes, count);
      await vi.waitFor(() => expect(processesWith(before.mark)).toEqual([]));
      server = await house.start();
      const again = moveTo(server, account);
      await before.settle(again);
      for (const lane of lanes) await lane.settle(again);
      await expectTrail(house, again, lanes);
    }
  });
});

test('of calls that end at once, in one server or two, the session keeps what each has read and where it went', async () => {
  using directory = makeDirectory();
  await using records = await openRecords({ file: directory.at('croft.db') });
  const options = { records, accountId: 'a', agentId: 'b', name: 's', maxSessions: 9, now: () => new Date() };
  const openSandbox = () => Promise.reject(new Error('there is none'));
  const open = async () => {
    const memory = createSessionMemory(options);
    const session = createSession('s', { memory, sandboxIdleMs: 1000, openSandbox });
    await memory.refresh(session);
    const read = (path: string) => session.reads.saw('w', { path, version: '1', kind: 'file', size: 1, mtimeMs: 1 });
    return { session, read, keep: () => memory.keep(session) };
  };
  const one = await open();
  one.read('a');
  const first = one.keep();
  one.read('b');
  await Promise.all([first, one.keep()]);

  const two = await open();
  one.session.place = { workspace: 'w', path: 'sub' };
  two.read('c');
  await Promise.all([two.keep(), one.keep()]);
  const { session } = await open();
  expect(Array.from(session.reads.seen, ([, path]) => path).sort()).toEqual(['a', 'b', 'c']);
  expect(session.place).toEqual({ workspace: 'w', path: 'sub' });
});

test.runIf(process.getuid?.() === 0)('a workspace that a kill left without its owner gets one', async () => {
  await using house = openHouse();
  chmodSync(house.data, 0o711);
  const account = await addAccount(await house.start(), 'ann');
  const workspaceId = await account.newWorkspace();
  const directory = house.at(`workspaces/${namespaceOf(account.accountId, workspaceId)}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const agent = await newAgent(account, workspaceId, 'bypass');
  mustBe(200, await account.call(agent, 'bash', { command: 'touch a' }));
  expect(statSync(directory).uid).toBeGreaterThan(0);
  expect(statSync(`${directory}/a`).uid).toBe(statSync(directory).uid);
});

/** Each start goes a little further than the one before. */
async function killFirstStarts(house: House, moments: readonly string[]): Promise<void> {
  for (const name of moments) {
    const child = spawn(croft, ['serve', '--port', '0', ...house.serveArgs], {
      stdio: 'ignore',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_ADMIN_TOKEN: adminToken },
    });
    const exited = once(child, 'exit');
    while (!existsSync(house.at(name)) && child.exitCode === null) await sleep(1);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
  }
}

async function newAgent(account: Account, workspaceId: string, permissionMode: string): Promise<string> {
  const sandbox = await account.newSandbox({ permissionMode });
  return account.newAgent({ sandbox, workspaces: [{ name: 'w', workspaceId }] });
}

async function furnish(account: Account) {
  const workspaceId = await account.newWorkspace();
  const [free, careful] = [await newAgent(account, workspaceId, 'bypass'), await newAgent(account, workspaceId, 'ask')];
  const lanes = [
    ...['a', 'b', 'c'].flatMap((lane) => ['sandboxes', 'workspaces'].map((kind) => recordLane(kind, lane))),
    agentLane(careful),
    ...['a.txt', 'b.txt', 'c.txt'].map((path) => fileLane(free, path)),
    memoryLane(free),
    ...['one', 'two'].map((name) => approvalLane(careful, name)),
    keyLane(),
  ];
  return { lanes, resting: createResting(free) };
}

/** All lanes side by side, until so many requests have been answered. */
async function loadUntilKilled(server: Server, account: Account, lanes: readonly Lane[], count: number): Promise<void> {
  let [answered, isKilled] = [0, false];
  const exited = once(server.child, 'exit');
  const onAnswer = () => {
    answered += 1;
    if (answered !== count) return;
    isKilled = true;
    setTimeout(() => server.child.kill('SIGKILL'), Math.random() * 15);
  };
  const counted = withCount(moveTo(server, account), onAnswer);
  await Promise.all(
    lanes.map(async (lane) => {
      while (!isKilled) await lane.step(counted).catch((thrown) => rethrowUnless(isKilled, thrown));
    }),
  );
  await exited;
}

function withCount(account: Account, onAnswer: () => void): Account {
  const count = (answer: Answer) => {
    onAnswer();
    return answer;
  };
  return {
    ...account,
    send: async (...args) => count(await account.send(...args)),
    call: async (...args) => count(await account.call(...args)),
    approve: async (...args) => count(await account.approve(...args)),
  };
}

/** A connection that broke is no answer; anything that was answered counts, also in the last moment. */
function rethrowUnless(isKilled: boolean, thrown: unknown): void {
  if (!(isKilled && thrown instanceof TypeError)) throw thrown;
}

/** Makes records, changes each twice and deletes every third. */
function recordLane(kind: string, lane: string): Lane {
  interface Kept {
    readonly name: string;
    readonly id?: string;
    /** 0: it is not there. */
    readonly version: number;
  }
  const idName = kind === 'sandboxes' ? 'sandboxId' : 'workspaceId';
  const title = kind === 'sandboxes' ? 'sandbox' : 'workspace';
  const all = new Map<string, Kept>();
  const trail: string[] = [];
  let made = 0;
  let [current, underWay]: [Kept | undefined, Kept | undefined] = [undefined, undefined];

  const bodyOf = ({ name, version }: Kept) => ({ name, description: `${name} ${version}`, config: configOf(version) });
  const configOf = (version: number) =>
    kind === 'sandboxes' ? { outputLimitBytes: 10_000 + version } : { harness: { enabled: version % 2 === 0 } };
  const create = (account: Account, next: Kept) =>
    account.send('POST', `/v1/${kind}`, bodyOf(next), { 'idempotency-key': next.name });

  async function send(account: Account, next: Kept): Promise<Kept> {
    if (next.version === 1) return { ...next, id: mustBe(201, await create(account, next))[idName] };
    const path = `/v1/${kind}/${next.id}`;
    const ifMatch = { 'if-match': `"${current?.version}"` };
    if (next.version === 0) mustBe(200, await account.send('DELETE', path, undefined, ifMatch));
    else mustBe(200, await account.send('PATCH', path, bodyOf(next), ifMatch));
    return next;
  }

  function acknowledge(next: Kept): void {
    const action = next.version === 0 ? 'removed' : next.version === 1 ? 'created' : 'changed';
    trail.push(`${title}.${action} ${next.id}`);
    all.set(next.name, next);
    [current, underWay] = [next, undefined];
  }

  function chooseNext(): Kept {
    if (current && current.version > 0 && current.version < 3) return { ...current, version: current.version + 1 };
    made += 1;
    if (current?.version === 3 && made % 3 === 0) return { ...current, version: 0 };
    return { name: `${title}-of-lane-${lane}-${made}`, version: 1 };
  }

  async function settleUnderWay(account: Account, next: Kept): Promise<void> {
    // Sent once more it is made once, whether it was before or not.
    if (next.version === 1) return acknowledge(await send(account, next));
    const answer = await account.send('GET', `/v1/${kind}/${next.id}`);
    const version = answer.status === 404 ? 0 : answer.body.version;
    if (version === next.version) acknowledge(next);
    else underWay = undefined;
  }

  return {
    trail,
    async step(account) {
      underWay = chooseNext();
      acknowledge(await send(account, underWay));
    },
    async settle(account) {
      if (underWay) await settleUnderWay(account, underWay);
      const last = [...all.values()].at(-1);
      if (last) expect((await send(account, { name: last.name, version: 1 })).id).toBe(last.id);
      const found = await listAll(account, kind);
      const own = found.filter(({ name }) => name.includes(`-of-lane-${lane}-`));
      const there = [...all.values()].filter(({ version }) => version > 0);
      expect(own.map(({ name }) => name).sort()).toEqual(there.map(({ name }) => name).sort());
      for (const kept of there)
        expect(own.find(({ name }) => name === kept.name)).toMatchObject({
          ...bodyOf(kept),
          [idName]: kept.id,
          version: kept.version,
        });
    },
  };
}

async function listAll(account: Account, kind: string): Promise<Json[]> {
  const found: Json[] = [];
  let after = '';
  do {
    const body = mustBe(200, await account.send('GET', `/v1/${kind}?limit=100${after}`));
    found.push(...body[kind]);
    after = body.next === undefined ? '' : `&after=${encodeURIComponent(body.next)}`;
  } while (after !== '');
  return found;
}

/** Agents refer to a sandbox: there is none whose reference is not known, and none without it. */
function agentLane(careful: string): Lane {
  const [trail, made]: [string[], string[]] = [[], []];
  let sandbox: string | undefined;
  return {
    trail,
    async step(account) {
      sandbox ??= mustBe(200, await account.send('GET', `/v1/agents/${careful}`)).config.sandbox;
      const body = { name: `agent-of-lane-${made.length}-${Math.random()}`, config: { sandbox } };
      const { agentId } = mustBe(201, await account.send('POST', '/v1/agents', body));
      made.push(agentId);
      trail.push(`agent.created ${agentId}`);
    },
    async settle(account) {
      const agents = await listAll(account, 'agents');
      expect(agents.map(({ agentId }) => agentId)).toEqual(expect.arrayContaining(made));
      for (const { name, config } of agents) if (name.includes('-of-lane-')) expect(config).toEqual({ sandbox });
      if (sandbox === undefined) return;
      const refused = await account.send('DELETE', `/v1/sandboxes/${sandbox}`);
      expect(refused.body.error.code).toBe('E_IN_USE');
    },
  };
}

/** Writes a file and edits it in turn, in a session that others use at the same time. */
function fileLane(agent: string, path: string): Lane {
  const trail: string[] = [];
  let changes = 0;
  let [kept, underWay]: [string | undefined, string | undefined] = [undefined, undefined];
  const toText = (line: string) => `${path} ${changes}\n${line.repeat(500)}`;

  return {
    trail,
    async step(account) {
      changes += 1;
      const isEdit = kept !== undefined && changes % 2 === 0;
      const [head = '', ...rest] = kept?.split('\n') ?? [];
      underWay = isEdit ? [`${path} ${changes}`, ...rest].join('\n') : toText(`line of ${changes}\n`);
      const edit = { old_string: head, new_string: `${path} ${changes}` };
      const tool = isEdit ? 'edit' : 'write';
      mustBe(200, await account.call(agent, tool, { file_path: path, ...(isEdit ? edit : { content: underWay }) }));
      trail.push(`call.began ${tool}`, `call.ended ${tool}`);
      [kept, underWay] = [underWay, undefined];
    },
    async settle(account) {
      const answer = await account.call(agent, 'read', { file_path: path, limit: 2000 });
      const actual = answer.status === 404 ? undefined : mustBe(200, answer).content;
      expect(actual === kept || actual === underWay, `${path} holds ${actual?.slice(0, 40)}`).toBe(true);
      [kept, underWay] = [actual, undefined];
    },
  };
}

function memoryLane(agent: string): Lane {
  const [trail, saved]: [string[], string[]] = [[], []];
  let count = 0;
  return {
    trail,
    async step(account) {
      const title = `fact-${++count}`;
      mustBe(200, await account.call(agent, 'memory_save', { title, content: `about ${title}` }));
      saved.push(title);
      trail.push('call.ended memory_save');
    },
    async settle(account) {
      if (saved.length === 0) return;
      const { content } = mustBe(200, await account.call(agent, 'read', { file_path: 'MEMORY.md', limit: 2000 }));
      for (const title of saved) expect(content.split(`## ${title}\n\nabout ${title}\n`)).toHaveLength(2);
    },
  };
}

/** Asks, is approved, and runs once: what was used stays used, and what has happened was used. */
function approvalLane(agent: string, name: string): Lane {
  interface Asked {
    readonly approvalId: string;
    readonly line: string;
    /** How far it is known to have come, and how far it may have come. */
    readonly state: 'pending' | 'approved' | 'used';
    readonly next?: 'approved' | 'used';
  }
  const trail: string[] = [];
  const all = new Map<string, Asked>();
  let count = 0;
  const callOf = ({ line }: Pick<Asked, 'line'>) => ({ command: `echo ${line} >> ${name}.log` });
  const claim = (account: Account, asked: Asked) =>
    account.call(agent, 'bash', callOf(asked), { 'croft-approval': asked.approvalId, 'croft-session': name });

  async function step(account: Account): Promise<void> {
    const line = `${name}-${++count}`;
    const answer = await account.call(agent, 'bash', callOf({ line }), { 'croft-session': name });
    const { approvalId } = mustBe(202, answer).approval;
    const asked = { approvalId, line };
    all.set(approvalId, { ...asked, state: 'pending', next: 'approved' });
    trail.push(`approval.requested ${approvalId}`);
    mustBe(200, await account.approve(approvalId));
    all.set(approvalId, { ...asked, state: 'approved', next: 'used' });
    trail.push(`approval.approved ${approvalId}`);
    mustBe(200, await claim(account, { ...asked, state: 'approved' }));
    all.set(approvalId, { ...asked, state: 'used' });
    trail.push(`approval.used ${approvalId}`, 'call.ended bash');
  }

  async function settleOne(account: Account, asked: Asked, lines: readonly string[]): Promise<void> {
    const { approval } = mustBe(200, await account.send('GET', `/v1/approvals/${asked.approvalId}`));
    expect([asked.state, asked.next]).toContain(approval.state);
    const times = lines.filter((line) => line === asked.line).length;
    if (approval.state !== 'used') expect(times).toBe(0);
    else if (asked.state === 'used') expect(times).toBe(1);
    else expect(times).toBeLessThan(2);
    if (approval.state === 'used') {
      expect((await claim(account, asked)).body.error.code).toBe('E_APPROVAL_MISMATCH');
      all.set(asked.approvalId, { approvalId: asked.approvalId, line: asked.line, state: 'used' });
      // What was acknowledged is looked at once; what was not ran once at most, and does not count again.
      if (times === 0) all.delete(asked.approvalId);
    } else if (approval.state === 'approved') {
      mustBe(200, await claim(account, asked));
      all.set(asked.approvalId, { approvalId: asked.approvalId, line: asked.line, state: 'used' });
    }
  }

  return {
    trail,
    step,
    async settle(account) {
      const inSession = { 'croft-session': name };
      const answer = await account.call(agent, 'read', { file_path: `${name}.log`, limit: 2000 }, inSession);
      const lines: string[] = answer.status === 404 ? [] : mustBe(200, answer).content.split('\n');
      for (const asked of [...all.values()]) await settleOne(account, asked, lines);
      for (const line of lines.filter((each) => each !== ''))
        expect([...all.values()].map((asked) => asked.line)).toContain(line);
    },
  };
}

/** A key that was given works, and one that was taken back never does again. */
function keyLane(): Lane {
  const trail: string[] = [];
  const keys = new Map<string, { secret: string; state: 'live' | 'perhaps' | 'revoked' }>();
  const statusOf = async ({ url }: Account, secret: string) =>
    (await openAccount(url, secret, '').send('GET', '/v1/account')).status;
  return {
    trail,
    async step(account) {
      const body = { name: `key-${keys.size}-${Math.random()}`, scopes: ['read'] };
      const { key, secret } = mustBe(201, await account.send('POST', '/v1/keys', body));
      keys.set(key.keyId, { secret, state: 'live' });
      trail.push(`key.created ${key.keyId}`);
      if (keys.size % 3 === 0) return;
      keys.set(key.keyId, { secret, state: 'perhaps' });
      mustBe(200, await account.send('DELETE', `/v1/keys/${key.keyId}`));
      keys.set(key.keyId, { secret, state: 'revoked' });
      trail.push(`key.revoked ${key.keyId}`);
    },
    async settle(account) {
      for (const [keyId, { secret, state }] of keys) {
        const status = await statusOf(account, secret);
        if (state === 'perhaps') keys.set(keyId, { secret, state: status === 200 ? 'live' : 'revoked' });
        else expect({ keyId, status }).toEqual({ keyId, status: state === 'live' ? 200 : 401 });
      }
    },
  };
}

/** What a session did in peace: a file it wrote, which it may edit later, and a command, which goes with the server. */
function createResting(agent: string) {
  let count = 0;
  return {
    async begin(account: Account) {
      const file_path = `resting-${++count}.txt`;
      const mark = `600.${process.pid}${Date.now()}`;
      mustBe(200, await account.call(agent, 'write', { file_path, content: 'one' }));
      mustBe(200, await account.call(agent, 'bash', { command: `exec sleep ${mark}`, run_in_background: true }));
      await vi.waitFor(() => expect(processesWith(mark)).not.toEqual([]));
      const edit = { file_path, old_string: 'one', new_string: 'two' };
      return { mark, settle: async (on: Account) => mustBe(200, await on.call(agent, 'edit', edit)) };
    },
  };
}

function processesWith(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
}

/** Unbroken, with an entry for everything that was acknowledged, and for every record one for each of its changes. */
async function expectTrail(house: House, account: Account, lanes: readonly Lane[]): Promise<void> {
  const verified = await house.croft('audit', 'verify');
  expect(verified).toMatchObject({ exitCode: 0, stderr: '' });
  const { stdout } = await house.croft('audit', 'export', '--account', account.accountId);
  const rows: Json[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const counts = Map.groupBy(rows, ({ action, target }) => `${action} ${target}`);
  const expected = Map.groupBy(
    lanes.flatMap(({ trail }) => trail),
    (entry) => entry,
  );
  for (const [entry, times] of expected)
    expect({ entry, count: counts.get(entry)?.length ?? 0 }).toEqual({
      entry,
      count: expect.toSatisfy((count: number) => count >= times.length),
    });
  for (const { sandboxId, version } of await listAll(account, 'sandboxes')) {
    expect(counts.get(`sandbox.created ${sandboxId}`)).toHaveLength(1);
    expect(counts.get(`sandbox.changed ${sandboxId}`) ?? []).toHaveLength(version - 1);
  }
  const ids = new Set((await listAll(account, 'workspaces')).map(({ workspaceId }) => workspaceId));
  for (const [entry] of counts)
    if (entry.startsWith('workspace.created '))
      expect(ids.has(entry.slice(18)) || counts.has(entry.replace('created', 'removed'))).toBe(true);
}
