import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { createRegistry } from '../../src/core/accounts/lifecycle/create-registry.ts';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import { openRecords, type RecordsOptions } from '../../src/records/index.ts';
import { startPostgres } from '../support/servers/postgres.ts';
import { openFixture, refusal } from './fixture.ts';

const server = await startPostgres();
afterAll(() => server?.[Symbol.asyncDispose]());

async function open(options: RecordsOptions) {
  const records = await openRecords(options);
  onTestFinished(() => records[Symbol.asyncDispose]());
  return records;
}

/** Two servers on one database, each with connections of its own. */
async function openPair(store: string) {
  if (store === 'sqlite') {
    const fixture = await openFixture();
    const records = await open({ file: join(fixture.directory, 'records.db') });
    return { ...fixture, other: createRegistry({ ...fixture, records }) };
  }
  const url = await server!.createSchema();
  const fixture = await openFixture({ records: await open({ url }) });
  return { ...fixture, other: createRegistry({ ...fixture, records: await open({ url }) }) };
}

const stores = server ? ['sqlite', 'postgres'] : ['sqlite'];
const countMade = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  outcomes.filter(({ status }) => status === 'fulfilled').length;

describe.each(stores)('two servers on one %s', (store) => {
  test('leave no dangling reference', async () => {
    const { registry, other, actor } = await openPair(store);
    const outcomes = new Set<string>();
    for (let round = 0; round < 50; round += 1) {
      const { id } = await registry.sandboxes.create(actor, { name: `s${round}` });
      const create = () => registry.agents.create(actor, { name: `a${round}`, config: { sandbox: id } });
      const remove = () => other.sandboxes.remove(actor, id, {});
      const pair = round % 2 ? [create(), remove()] : [remove(), create()].toReversed();
      const [made, removed] = await Promise.allSettled(pair);
      outcomes.add(`${made?.status} ${removed?.status}`);
      const isThere = (await other.sandboxes.open(actor.accountId, id)) !== undefined;
      expect([made?.status, removed?.status], `round ${round}`).toEqual(
        isThere ? ['fulfilled', 'rejected'] : ['rejected', 'fulfilled'],
      );
    }
    expect([...outcomes]).toContain('fulfilled rejected');
  });

  test('give a name once, never exceed a quota, and lose no patch', async () => {
    const { registry, other, actor, records } = await openPair(store);
    const both = [registry, other];
    for (let round = 0; round < 10; round += 1) {
      const made = await Promise.allSettled(both.map(({ agents }) => agents.create(actor, { name: `n${round}` })));
      expect(countMade(made)).toBe(1);
    }
    const keys = Array.from({ length: 30 }, (_, index) => index);
    const scopes = ['read'];
    const many = keys.map((key) => both[key % 2]?.keys.create(actor, { name: `k${key}`, scopes }));
    expect(countMade(await Promise.allSettled(many))).toBe(19);

    const { id } = await registry.agents.create(actor, { name: 'patched' });
    await Promise.all(keys.map((key) => both[key % 2]?.agents.patch(actor, id, { config: { [key]: key } }, {})));
    const agent = await other.agents.get(actor, id);
    expect(Object.keys(agent.config)).toHaveLength(keys.length);
    expect(agent.version).toBe(keys.length + 1);
    const { rows } = await records.read(({ audit }) => audit.list({}, { limit: 1000 }));
    expect(findBreak(rows)).toBeUndefined();
  });

  test('refuse a value that a database cannot store before it is sent', async () => {
    const { registry, actor } = await openPair(store);
    const texts = ['\0', 'a\0b', '\uD800', `sb_${'0'.repeat(23)}\0`, '\\', "';--", 'é'.repeat(500)];
    for (const text of texts) {
      const attempts = [
        registry.sandboxes.get(actor, text),
        registry.agents.create(actor, { name: 'a', config: { sandbox: text } }),
        registry.agents.create(actor, { name: 'a', config: { workspaces: [{ name: 'w', workspaceId: text }] } }),
        registry.keys.revoke(actor, text),
        registry.secrets.remove(actor, text),
        registry.secrets.put(actor, text, { value: 'x' }),
        registry.accounts.get(text),
      ];
      for (const { code } of await Promise.all(attempts.map(refusal)))
        expect(code).toMatch(/^E_(NOT_FOUND|INVALID_INPUT)$/);
    }
    const config = { text: 'a\0b \uD800 \u2028', '\0': 1 };
    const { id } = await registry.agents.create(actor, { name: 'odd', config });
    expect((await registry.agents.get(actor, id)).config).toEqual(config);
    // No variable of a command could hold it.
    expect((await refusal(registry.secrets.put(actor, 'odd', { value: 'a\0b' }))).code).toBe('E_INVALID_INPUT');
  });
});
