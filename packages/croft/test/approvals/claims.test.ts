import { AppError } from '@croft/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findBreak } from '../../src/core/accounts/ports/audit-chain.ts';
import type { Records } from '../../src/core/accounts/ports/records.ts';
import type { Asker, CallToApprove } from '../../src/core/approvals/approvals.ts';
import { type ApprovalsFixture, actorOf, callOf, mine, nobody, openFixture, theirs, ttlMs } from './fixture.ts';

let fixture: ApprovalsFixture;

beforeEach(async () => {
  fixture = await openFixture();
});

afterEach(() => fixture[Symbol.asyncDispose]());

/** `run`, or the code it was refused with. */
async function attempt(call: CallToApprove, asker: Asker = nobody, { approvals } = fixture): Promise<string> {
  try {
    await approvals.mustBeApproved(call, asker, new AbortController().signal);
    return 'run';
  } catch (thrown) {
    return AppError.from(thrown).code;
  }
}

async function failure(call: CallToApprove, asker: Asker = nobody): Promise<AppError> {
  return fixture.approvals.mustBeApproved(call, asker, new AbortController().signal).then(
    () => expect.fail('it ran'),
    (thrown) => AppError.from(thrown),
  );
}

/** Asks for it, and answers the id of the approval. */
async function request(call = callOf()): Promise<string> {
  const { code, details } = await failure(call);
  expect(code).toBe('E_APPROVAL_REQUIRED');
  return (details as { approval: { approvalId: string } }).approval.approvalId;
}

const approve = (id: string, body: object = {}) =>
  fixture.approvalInbox.decide(actorOf(mine), id, { decision: 'approve', ...body });
const deny = (id: string, reason?: string) =>
  fixture.approvalInbox.decide(actorOf(mine), id, { decision: 'deny', reason });
const naming = (approvalId: string): Asker => ({ ...nobody, approvalId });
const stateOf = async (id: string) => (await fixture.approvalInbox.get(actorOf(mine), id)).state;

describe('an approval for one call', () => {
  test('runs the call once, with or without its id, and then is requested again', async () => {
    const id = await request();
    expect(await request()).toBe(id);
    await approve(id);
    expect(await attempt(callOf())).toBe('run');
    expect(await stateOf(id)).toBe('used');
    expect(await request()).not.toBe(id);

    const next = await request();
    await approve(next);
    expect(await attempt(callOf(), naming(next))).toBe('run');
  });

  test('is refused with the reason when its id is replayed', async () => {
    const id = await request();
    await approve(id);
    await attempt(callOf(), naming(id));
    const error = await failure(callOf(), naming(id));
    expect(error.code).toBe('E_APPROVAL_MISMATCH');
    expect(error.message).toContain('used up');
  });

  test.each([
    ['another argument', { input: { command: 'ls /' } }],
    ['one argument more', { input: { command: 'ls', timeout: 1 } }],
    ['a text that only looks the same', { input: { command: 'ls\u200b' } }],
    ['another tool', { tool: 'run_command' }],
    ['another workspace', { workspace: 'ws_2' }],
    ['another session', { session: 'two' }],
    ['another agent', { agentId: 'agent_2' }],
    ['another account', { accountId: theirs }],
  ])('cannot be used by %s', async (_, changes) => {
    const id = await request();
    await approve(id);
    expect(await attempt(callOf(changes), naming(id))).toBe('E_APPROVAL_MISMATCH');
    expect(await attempt(callOf(changes))).toBe('E_APPROVAL_REQUIRED');
    expect(await stateOf(id)).toBe('approved');
    expect(await attempt(callOf())).toBe('run');
  });

  test('with an unknown id is answered like one of another account', async () => {
    const id = await request(callOf({ accountId: theirs }));
    const answers = await Promise.all(
      [id, `ap_${'0'.repeat(24)}`, '', 'ap_\0', 'x'.repeat(1_000_000)].map((name) => failure(callOf(), naming(name))),
    );
    expect(new Set(answers.map((error) => JSON.stringify(error)))).toHaveLength(1);
    expect(answers[0]?.code).toBe('E_APPROVAL_MISMATCH');
  });

  test('is used by exactly one of twenty concurrent calls on two servers', async () => {
    const id = await request();
    await approve(id);
    const servers = [fixture, await fixture.startServer()];
    const calls = Array.from({ length: 20 }, (_, index) => {
      const asker = index % 3 === 0 ? naming(id) : nobody;
      return attempt(callOf(), asker, { ...fixture, ...servers[index % 2] });
    });
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => answer === 'run')).toHaveLength(1);
    const others = new Set(answers.filter((answer) => answer !== 'run'));
    expect([...others].sort()).toEqual(['E_APPROVAL_MISMATCH', 'E_APPROVAL_REQUIRED']);
    const { rows } = await fixture.approvalInbox.list(actorOf(mine), {}, { limit: 100 });
    expect(rows.map(({ state }) => state).sort()).toEqual(['pending', 'used']);
  });

  test('does not depend on the order of keys, nor on undefined arguments', async () => {
    const id = await request(callOf({ input: { a: 1, b: { c: 2, d: 3 } } }));
    await approve(id);
    expect(await attempt(callOf({ input: { b: { d: 3, c: 2 }, e: undefined, a: 1 } }))).toBe('run');
  });
});

describe('an approval for the session', () => {
  test('runs the call as often as it is made, and no other call', async () => {
    const id = await request();
    await approve(id, { scope: 'session' });
    expect(await Promise.all([attempt(callOf()), attempt(callOf()), attempt(callOf(), naming(id))])).toEqual(
      Array.from({ length: 3 }, () => 'run'),
    );
    expect(await stateOf(id)).toBe('approved');
    expect(await attempt(callOf({ session: 'two' }))).toBe('E_APPROVAL_REQUIRED');
    expect(await attempt(callOf({ input: { command: 'ls -a' } }))).toBe('E_APPROVAL_REQUIRED');
  });

  test('ends with its time', async () => {
    const id = await request();
    await approve(id, { scope: 'session' });
    fixture.clock.now += ttlMs - 1;
    expect(await attempt(callOf())).toBe('run');
    fixture.clock.now += 1;
    expect(await attempt(callOf(), naming(id))).toBe('E_APPROVAL_EXPIRED');
    expect(await attempt(callOf())).toBe('E_APPROVAL_REQUIRED');
  });
});

describe('a denial', () => {
  test('refuses a late repetition with its reason, and then the approval can be requested again', async () => {
    const id = await request();
    await deny(id, 'not on a Friday');
    fixture.clock.now += ttlMs - 60_000;
    const error = await failure(callOf());
    expect(error).toMatchObject({ code: 'E_APPROVAL_DENIED', details: { approvalId: id, reason: 'not on a Friday' } });
    expect(error.message).toContain('not on a Friday');
    expect(await attempt(callOf())).toBe('E_APPROVAL_DENIED');
    fixture.clock.now += 60_000;
    expect(await request()).not.toBe(id);
    expect(await attempt(callOf(), naming(id))).toBe('E_APPROVAL_DENIED');
    expect(await stateOf(id)).toBe('denied');
  });

  test('can be requested again a minute after the caller got it', async () => {
    const id = await request();
    await deny(id);
    expect(await attempt(callOf())).toBe('E_APPROVAL_DENIED');
    fixture.clock.now += 59_999;
    expect(await attempt(callOf())).toBe('E_APPROVAL_DENIED');
    fixture.clock.now += 1;
    expect(await request()).not.toBe(id);
  });
});

describe('expiry', () => {
  test('happens at the exact millisecond, before and after a decision', async () => {
    const [pending, approved] = [await request(), await request(callOf({ session: 'two' }))];
    await approve(approved);
    fixture.clock.now += ttlMs;
    expect(await attempt(callOf({ session: 'two' }), naming(approved))).toBe('E_APPROVAL_EXPIRED');
    await expect(approve(pending)).rejects.toMatchObject({
      code: 'E_APPROVAL_SETTLED',
      details: { state: 'expired' },
    });
    const states = await fixture.records.read(({ approvals }) =>
      Promise.all([pending, approved].map((id) => approvals.get(mine, id))),
    );
    expect(states.map((row) => row?.state)).toEqual(['expired', 'expired']);
  });

  test('is not undone by a clock that goes back', async () => {
    const id = await request();
    await approve(id);
    fixture.clock.now += ttlMs;
    expect(await attempt(callOf(), naming(id))).toBe('E_APPROVAL_EXPIRED');
    fixture.clock.now -= ttlMs;
    expect(await attempt(callOf(), naming(id))).toBe('E_APPROVAL_EXPIRED');
    expect(await attempt(callOf())).toBe('E_APPROVAL_REQUIRED');
  });
});

test('expired approvals do not count towards the hundred that one agent can have waiting', async () => {
  const calls = Array.from({ length: 101 }, (_, index) => callOf({ input: { index } }));
  for (const call of calls.slice(0, 100)) expect(await attempt(call)).toBe('E_APPROVAL_REQUIRED');
  expect(await attempt(callOf({ input: { index: 100 } }))).toBe('E_TOO_MANY');
  expect(await attempt(callOf({ input: { index: 0 } }))).toBe('E_APPROVAL_REQUIRED');
  expect(await attempt(callOf({ agentId: 'agent_2', input: { index: 100 } }))).toBe('E_APPROVAL_REQUIRED');
  fixture.clock.now += ttlMs;
  expect(await attempt(callOf({ input: { index: 100 } }))).toBe('E_APPROVAL_REQUIRED');
});

test('request, decision and use appear only in the audit trail and in events, and the trail verifies', async () => {
  const id = await request(callOf({ input: { command: 'echo hunter2' }, inbox: 'parent' }));
  await approve(id, { reason: 'fine' });
  await attempt(callOf({ input: { command: 'echo hunter2' } }));
  const denied = await request();
  await deny(denied, 'no');

  const rows = await fixture.audit();
  expect(findBreak(rows)).toBeUndefined();
  expect(rows.map(({ action, actor, target }) => [action, actor, target])).toEqual([
    ['approval.requested', 'agent_1 one', id],
    ['approval.approved', 'key key_1', id],
    ['approval.used', 'agent_1 one', id],
    ['approval.requested', 'agent_1 one', denied],
    ['approval.denied', 'key key_1', denied],
  ]);
  expect(fixture.events.map(({ event }) => event.replace('lifecycle.approval.', ''))).toEqual([
    'requested',
    'decided',
    'used',
    'requested',
    'decided',
  ]);
  expect(fixture.requested.map(({ by, approval }) => [by.inbox, approval.approvalId])).toEqual([
    ['parent', id],
    ['one', denied],
  ]);
  const stored = await fixture.records.read(({ approvals }) => approvals.get(mine, id));
  expect(JSON.stringify([rows, fixture.events, stored])).not.toContain('hunter2');
  expect(await fixture.approvalInbox.get(actorOf(mine), id)).toMatchObject({ input: { command: 'echo hunter2' } });
});

test('a decision fails if the audit trail cannot record it', async () => {
  const id = await request();
  const { records } = fixture;
  const broken: Records = {
    ...records,
    change: (work) =>
      records.change((tables) =>
        work({ ...tables, audit: { ...tables.audit, append: () => Promise.reject(new Error('disk full')) } }),
      ),
  };
  const server = fixture.serve(broken);
  await expect(server.approvalInbox.decide(actorOf(mine), id, { decision: 'approve' })).rejects.toThrow('disk full');
  expect(await stateOf(id)).toBe('pending');
  await approve(id);
  expect(await attempt(callOf(), nobody, { ...fixture, ...server })).not.toBe('run');
  expect(await stateOf(id)).toBe('approved');
});
