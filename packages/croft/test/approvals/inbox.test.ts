import { AppError } from '@croft/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CallToApprove } from '../../src/core/approvals/approvals.ts';
import { type ApprovalsFixture, actorOf, callOf, mine, nobody, openFixture, theirs, ttlMs } from './fixture.ts';

let fixture: ApprovalsFixture;

beforeEach(async () => {
  fixture = await openFixture();
});

afterEach(() => fixture[Symbol.asyncDispose]());

const me = actorOf(mine);

async function request(changes: Partial<CallToApprove> = {}): Promise<string> {
  const refused: unknown = await fixture.approvals
    .mustBeApproved(callOf(changes), nobody, new AbortController().signal)
    .catch((thrown) => thrown);
  return (AppError.from(refused).details as { approval: { approvalId: string } }).approval.approvalId;
}

describe('a decision', () => {
  test('is made once: a second decision is refused', async () => {
    const id = await request();
    const attempts = Array.from({ length: 10 }, (_, index) =>
      fixture.approvalInbox.decide(actorOf(mine, `person ${index}`), id, { decision: index % 2 ? 'deny' : 'approve' }),
    );
    const answers = await Promise.allSettled(attempts);
    const made = answers.filter(({ status }) => status === 'fulfilled');
    expect(made).toHaveLength(1);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'E_APPROVAL_SETTLED' });
    expect(await fixture.approvalInbox.get(me, id)).toMatchObject((made[0] as PromiseFulfilledResult<object>).value);
    expect((await fixture.audit()).filter(({ action }) => /approved|denied/.test(action))).toHaveLength(1);
  });

  test.each([
    ['nothing', undefined],
    ['no object', 'approve'],
    ['an empty object', {}],
    ['another word', { decision: 'yes' }],
    ['a list of words', { decision: ['approve'] }],
    ['another scope', { decision: 'approve', scope: 'always' }],
    ['a reason that is no text', { decision: 'deny', reason: { toString: 'x' } }],
    ['a reason of a megabyte', { decision: 'deny', reason: 'x'.repeat(1_000_000) }],
    ['an own __proto__', JSON.parse('{"__proto__": {"decision": "approve"}}')],
  ])('of %s is refused whole', async (_, body) => {
    const id = await request();
    await expect(fixture.approvalInbox.decide(me, id, body)).rejects.toMatchObject({ code: 'E_INVALID_INPUT' });
    expect((await fixture.approvalInbox.get(me, id)).state).toBe('pending');
  });

  test('of another account is answered with not found', async () => {
    const id = await request();
    const missing = `ap_${'0'.repeat(24)}`;
    for (const name of [id, missing, '', 'ap_\0', 'x'.repeat(1_000_000)]) {
      const notFound = { code: 'E_NOT_FOUND', message: 'Approval not found', details: {} };
      await expect(fixture.approvalInbox.get(actorOf(theirs), name)).rejects.toMatchObject(notFound);
      await expect(fixture.approvalInbox.decide(actorOf(theirs), name, { decision: 'approve' })).rejects.toMatchObject(
        notFound,
      );
    }
    expect((await fixture.approvalInbox.list(actorOf(theirs), {}, { limit: 10 })).rows).toEqual([]);
    expect((await fixture.approvalInbox.get(me, id)).state).toBe('pending');
  });

  test('records who decided, when and why; a denial always counts for one call', async () => {
    const id = await request();
    fixture.clock.now += 1000;
    const decided = { state: 'denied', scope: 'once', decidedBy: 'key key_1', reason: 'a\n<U+202E>b' };
    expect(
      await fixture.approvalInbox.decide(me, id, { decision: 'deny', scope: 'session', reason: 'a\n\u202eb' }),
    ).toMatchObject({
      ...decided,
      decidedAt: '2026-11-16T00:00:01.000Z',
    });
  });
});

describe('what is listed', () => {
  test('is filtered by state and agent, newest first, page by page', async () => {
    const ids = [];
    for (let index = 0; index < 5; index += 1) ids.push(await request({ input: { index } }));
    const other = await request({ agentId: 'agent_2' });
    await fixture.approvalInbox.decide(me, ids[0] ?? '', { decision: 'approve' });
    const list = async (filter: object, page: object = {}) =>
      (await fixture.approvalInbox.list(me, filter, { limit: 100, ...page })).rows.map(({ approvalId }) => approvalId);
    expect(await list({ agentId: 'agent_1' })).toEqual(ids.toReversed());
    expect(await list({ state: 'approved' })).toEqual([ids[0]]);
    expect(await list({ state: 'pending', agentId: 'agent_2' })).toEqual([other]);

    const { rows, next } = await fixture.approvalInbox.list(me, {}, { limit: 4 });
    expect(rows.map(({ approvalId }) => approvalId)).toEqual([other, ...ids.slice(2).toReversed()]);
    expect(await list({}, { after: next })).toEqual([ids[1], ids[0]]);
  });

  test('shows an approval as expired from the moment its time is over', async () => {
    const id = await request();
    fixture.clock.now += ttlMs;
    expect((await fixture.approvalInbox.list(me, { state: 'pending' }, { limit: 10 })).rows).toEqual([]);
    expect((await fixture.approvalInbox.list(me, { state: 'expired' }, { limit: 10 })).rows).toMatchObject([
      { approvalId: id },
    ]);
  });
});

describe('what a person sees', () => {
  test('a preview has no control characters and no invisible characters', async () => {
    const command = 'echo hi\x1b];rm -rf ~;\x07\r\u202e\u2066\u200b\u{e0041}\x9b2J\ud800';
    const id = await request({ preview: async () => `${command}\n\tend` });
    expect((await fixture.approvalInbox.get(me, id)).preview).toBe(
      'echo hi<U+001B>];rm -rf ~;<U+0007><U+000D><U+202E><U+2066><U+200B><U+E0041><U+009B>2J<U+D800>\n\tend',
    );
  });

  test('a preview is cut, and says so first', async () => {
    const id = await request({ preview: async () => 'x'.repeat(10_000_000) });
    const { preview } = await fixture.approvalInbox.get(me, id);
    expect(preview.length).toBeLessThan(70_000);
    expect(preview).toMatch(/^\(This is only the first part: it has 10000000 characters in all\.\)\nxxx/);
  });

  test.each([
    ['one huge text', { content: 'x'.repeat(16_000_000) }],
    ['many arguments', Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`key${index}`, index]))],
    ['a long list', { list: Array.from({ length: 500_000 }, () => 0) }],
    ['huge keys', { ['k'.repeat(5_000_000)]: 1, ['l'.repeat(5_000_000)]: 2 }],
  ])('an input of %s is cut in the preview, and complete in the hash', async (_, input) => {
    const id = await request({ input });
    expect(JSON.stringify((await fixture.approvalInbox.get(me, id)).input).length).toBeLessThan(600_000);
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    const other = { ...input, last: 1 };
    expect(await request({ input: other })).not.toBe(id);
    const signal = new AbortController().signal;
    await expect(fixture.approvals.mustBeApproved(callOf({ input }), nobody, signal)).resolves.toBeUndefined();
  });

  test('sealed content cannot be opened in another row', async () => {
    const [one, other] = [await request(), await request({ session: 'two', preview: async () => 'harmless' })];
    await fixture.records.change(async ({ approvals }) => {
      const [to, from] = [await approvals.get(mine, one), await approvals.get(mine, other)];
      if (to && from) await approvals.update({ ...to, content: from.content, version: to.version + 1 });
    });
    await expect(fixture.approvalInbox.get(me, one)).rejects.toMatchObject({ code: 'E_INTERNAL' });
  });
});
