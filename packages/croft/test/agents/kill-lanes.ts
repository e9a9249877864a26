import { expect } from 'vitest';
import { type Account, type Json, mustBe, openAccount } from '../support/servers/platform.ts';

/** A client that does one thing after another, remembers what was acknowledged, and checks that it survived a kill. */
export interface Lane {
  step(account: Account): Promise<void>;
  /** Called after a kill: finds out whether the last request was carried out. */
  resolveAfterKill(account: Account): Promise<void>;
  /** Expected audit entries: an action and its target. */
  readonly trail: readonly string[];
}

/** Creates records, changes each twice and deletes every third. */
export function recordLane(kind: string, lane: string): Lane {
  interface Kept {
    readonly name: string;
    readonly id?: string;
    /** 0: it does not exist. */
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

  async function checkUnderWay(account: Account, next: Kept): Promise<void> {
    // Repeating the request creates the record once, whether or not the first one did.
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
    async resolveAfterKill(account) {
      if (underWay) await checkUnderWay(account, underWay);
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

export async function listAll(account: Account, kind: string): Promise<Json[]> {
  const found: Json[] = [];
  let after = '';
  do {
    const body = mustBe(200, await account.send('GET', `/v1/${kind}?limit=100${after}`));
    found.push(...body[kind]);
    after = body.next === undefined ? '' : `&after=${encodeURIComponent(body.next)}`;
  } while (after !== '');
  return found;
}

/**
 * Creates agents that refer to a sandbox. No agent may exist without its reference, and no reference without its agent.
 */
export function agentLane(careful: string): Lane {
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
    async resolveAfterKill(account) {
      const agents = await listAll(account, 'agents');
      expect(agents.map(({ agentId }) => agentId)).toEqual(expect.arrayContaining(made));
      for (const { name, config } of agents) if (name.includes('-of-lane-')) expect(config).toEqual({ sandbox });
      if (sandbox === undefined) return;
      const refused = await account.send('DELETE', `/v1/sandboxes/${sandbox}`);
      expect(refused.body.error.code).toBe('E_IN_USE');
    },
  };
}

/** An issued key works, and a revoked key never works again. */
export function keyLane(): Lane {
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
    async resolveAfterKill(account) {
      for (const [keyId, { secret, state }] of keys) {
        const status = await statusOf(account, secret);
        if (state === 'perhaps') keys.set(keyId, { secret, state: status === 200 ? 'live' : 'revoked' });
        else expect({ keyId, status }).toEqual({ keyId, status: state === 'live' ? 200 : 401 });
      }
    },
  };
}
