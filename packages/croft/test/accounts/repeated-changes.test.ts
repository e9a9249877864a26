import { describe, expect, test } from 'vitest';
import { createRegistry } from '../../src/core/accounts/lifecycle/create-registry.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import { auditOf, openFixture, refusal } from './fixture.ts';

/** Runs each change twice, as a store does on a conflict: the first run is rolled back. */
function twice(records: Records): Records {
  const change: Records['change'] = async (work) => {
    const undone = new Error('undone');
    const first = records.change(async (tables) => {
      await work(tables);
      throw undone;
    });
    await first.catch((thrown) => {
      if (thrown !== undone) throw thrown;
    });
    return records.change(work);
  };
  return { ...records, change };
}

/** Simulates a concurrent change of the row, the first `times` times. */
function losing(records: Records, times: number): { records: Records; lost: () => number } {
  let lost = 0;
  const change: Records['change'] = (work) =>
    records.change((tables) => {
      const update: typeof tables.agents.update = async (row) => {
        if (lost >= times) return tables.agents.update(row);
        lost += 1;
        return false;
      };
      return work({ ...tables, agents: { ...tables.agents, update } });
    });
  return { records: { ...records, change }, lost: () => lost };
}

describe('a store that runs a change twice', () => {
  test('stores every row once, and every returned key is valid', async () => {
    const fixture = await openFixture();
    const registry = createRegistry({ ...fixture, records: twice(fixture.records) });
    const { account, secret } = await registry.accounts.create('admin', { username: 'x' });
    const actor = (await registry.accounts.authenticate(secret)) ?? expect.fail();
    const made = await registry.keys.create(actor, { name: 'k', scopes: ['read'] });
    const rotated = await registry.keys.rotate(actor, made.key.keyId);
    expect(await registry.accounts.authenticate(rotated.secret)).toMatchObject({ label: `key ${rotated.key.keyId}` });
    const sandbox = await registry.sandboxes.create(actor, { name: 's', config: { envVars: { A: 'x' } } });
    const agent = await registry.agents.create(actor, { name: 'a', config: { sandbox: sandbox.id } });
    const patched = await registry.agents.patch(actor, agent.id, { config: { more: 1 } }, { version: 1 });
    expect(patched.version).toBe(2);
    expect((await refusal(registry.sandboxes.remove(actor, sandbox.id, {}))).code).toBe('E_IN_USE');
    await registry.secrets.put(actor, 'A', { value: 'x' });
    await registry.agents.remove(actor, agent.id, {});
    const last = await registry.accounts.rotateSecret('admin', account.accountId);
    expect(await registry.accounts.authenticate(last.secret)).toBeDefined();
    const actions = (await auditOf(fixture, actor)).map(({ action }) => action);
    expect(actions).toEqual([
      ...['account.created', 'key.created', 'key.rotated', 'sandbox.created', 'agent.created', 'agent.changed'],
      ...['secret.created', 'agent.removed', 'account.secret_rotated'],
    ]);
    await registry.accounts.remove('admin', account.accountId, async () => ({}));
  });
});

describe('a patch that loses a race', () => {
  test('is applied again to the current row, and failed attempts leave no trace', async () => {
    const fixture = await openFixture();
    const { actor } = fixture;
    const { id } = await fixture.registry.agents.create(actor, { name: 'a' });
    const { records, lost } = losing(fixture.records, 3);
    const registry = createRegistry({ ...fixture, records });
    expect((await registry.agents.patch(actor, id, { config: { a: 1 } }, {})).config).toEqual({ a: 1 });
    expect(lost()).toBe(3);
    const actions = (await auditOf(fixture, actor)).map(({ action }) => action);
    expect(actions).toEqual(['account.created', 'agent.created', 'agent.changed']);
  });

  test('fails at once if it names a version, and otherwise after a limited number of attempts', async () => {
    const fixture = await openFixture();
    const { actor } = fixture;
    const made = await fixture.registry.agents.create(actor, { name: 'a' });
    const { records, lost } = losing(fixture.records, 1000);
    const { agents } = createRegistry({ ...fixture, records });
    const patch = (version?: number) => refusal(agents.patch(actor, made.id, { name: 'b' }, { version }));
    expect((await patch(1)).code).toBe('E_PRECONDITION_FAILED');
    expect(lost()).toBe(1);
    expect((await patch()).code).toBe('E_PRECONDITION_FAILED');
    expect(lost()).toBeLessThan(20);
    expect(await fixture.registry.agents.get(actor, made.id)).toEqual(made);
  });
});
