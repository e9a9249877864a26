import { AppError } from '@croft/protocol';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { Asker } from '../../src/core/approvals/approvals.ts';
import { startPostgres, type TestPostgres } from '../support/servers/postgres.ts';
import { type ApprovalsFixture, actorOf, callOf, mine, nobody, openFixture } from './fixture.ts';

let postgres: TestPostgres | undefined;

beforeAll(async () => {
  postgres = await startPostgres();
}, 300_000);

afterAll(() => postgres?.[Symbol.asyncDispose]());

const me = actorOf(mine);
const wait: Asker = { label: 'nobody', waitMs: 60_000 };

/** Two servers, each with its own connections. */
async function open(skip: (why: string) => never) {
  if (!postgres) return skip('there is no PostgreSQL here');
  const fixture = await openFixture({ url: await postgres.createSchema() });
  return {
    fixture,
    servers: [fixture, await fixture.startServer()],
    [Symbol.asyncDispose]: fixture[Symbol.asyncDispose],
  };
}

const attempt = ({ approvals }: Pick<ApprovalsFixture, 'approvals'>, asker = nobody) =>
  approvals.mustBeApproved(callOf(), asker, new AbortController().signal).then(
    () => 'run',
    (thrown) => AppError.from(thrown).code,
  );

const rowsOf = async ({ approvalInbox }: ApprovalsFixture) => (await approvalInbox.list(me, {}, { limit: 100 })).rows;

describe('on PostgreSQL', () => {
  test('one approval is requested by twenty concurrent calls on two servers, and exactly one call uses it', async ({
    skip,
  }) => {
    await using opened = await open(skip);
    const { fixture, servers } = opened;
    const all = () => Promise.all(Array.from({ length: 20 }, (_, index) => attempt(servers[index % 2] ?? fixture)));
    expect(new Set(await all())).toEqual(new Set(['E_APPROVAL_REQUIRED']));
    const [row, ...more] = await rowsOf(fixture);
    expect(more).toEqual([]);
    await fixture.approvalInbox.decide(me, row?.approvalId ?? '', { decision: 'approve' });
    expect((await all()).filter((answer) => answer === 'run')).toHaveLength(1);
    expect((await rowsOf(fixture)).map(({ state }) => state).sort()).toEqual(['pending', 'used']);
    expect(findBreak(await fixture.audit())).toBeUndefined();
  });

  test('one of ten concurrent decisions on two servers counts, and a call that waits on either gets it', async ({
    skip,
  }) => {
    await using opened = await open(skip);
    const { fixture, servers } = opened;
    const calls = servers.map((server) => attempt(server, wait));
    const id = await vi.waitFor(async () => {
      const rows = await rowsOf(fixture);
      expect(rows).toHaveLength(1);
      return rows[0]?.approvalId ?? '';
    });
    const decisions = Array.from({ length: 10 }, (_, index) =>
      (servers[index % 2] ?? fixture).approvalInbox.decide(me, id, { decision: 'deny', reason: `${index}` }),
    );
    const made = (await Promise.allSettled(decisions)).filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(1);
    expect(await Promise.all(calls)).toEqual(['E_APPROVAL_DENIED', 'E_APPROVAL_DENIED']);
  });
});
