import { AppError } from '@croft/protocol';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Asker, CallToApprove, Decision } from '../../src/core/approvals/approvals.ts';
import { type ApprovalsFixture, actorOf, callOf, mine, nobody, openFixture, ttlMs } from './fixture.ts';

let fixture: ApprovalsFixture;

beforeEach(async () => {
  fixture = await openFixture();
});

afterEach(() => fixture[Symbol.asyncDispose]());

const me = actorOf(mine);
const patient: Asker = { label: 'nobody', waitMs: 60_000 };

/** A server that looks at the records so seldom that it has to hear of things by itself. */
function serveWithoutPolls() {
  return fixture.serve(fixture.records, { firstPollMs: 3_600_000, lastPollMs: 3_600_000 });
}

interface StartOptions {
  readonly call?: CallToApprove;
  readonly signal?: AbortSignal;
  readonly server?: Pick<ApprovalsFixture, 'approvals'>;
}

function start(
  asker: Asker,
  { call = callOf(), signal = new AbortController().signal, server = fixture }: StartOptions = {},
) {
  return server.approvals.mustBeApproved(call, asker, signal).then(
    () => 'run',
    (thrown) => (AppError.is(thrown) ? thrown.code : 'aborted'),
  );
}

/** The ids that wait for somebody, newest first. */
async function pending(count = 1): Promise<string[]> {
  return vi.waitFor(async () => {
    const { rows } = await fixture.approvalInbox.list(me, { state: 'pending' }, { limit: 10 });
    expect(rows).toHaveLength(count);
    return rows.map(({ approvalId }) => approvalId);
  });
}

test('a call that waits runs as soon as it is approved', async () => {
  const server = serveWithoutPolls();
  const call = start({ ...patient, waitMs: 3_600_000 }, { server });
  const [id = ''] = await pending();
  await server.approvalInbox.decide(me, id, { decision: 'approve' });
  expect(await call).toBe('run');
});

test('a waiting call runs when another server stores the decision', async () => {
  const [call, other] = [start(patient), await fixture.startServer()];
  const [id = ''] = await pending();
  await other.approvalInbox.decide(me, id, { decision: 'deny', reason: 'no' });
  expect(await call).toBe('E_APPROVAL_DENIED');
});

test('two calls that wait for one approval run one after the other, each with its own', async () => {
  const calls = [start(patient), start(patient)];
  const ended: string[] = [];
  for (const call of calls) void call.then((answer) => ended.push(answer));
  const [first = ''] = await pending();
  await fixture.approvalInbox.decide(me, first, { decision: 'approve' });
  const [second = ''] = await pending();
  expect(second).not.toBe(first);
  expect(ended).toEqual(['run']);
  await fixture.approvalInbox.decide(me, second, { decision: 'approve' });
  expect(await Promise.all(calls)).toEqual(['run', 'run']);
});

test('without a decision the call fails and names the approval and the time it waited', async () => {
  const onWaiting = vi.fn();
  const startedAt = performance.now();
  expect(await start({ ...patient, waitMs: 600, onWaiting })).toBe('E_APPROVAL_REQUIRED');
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(599);
  expect(onWaiting).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ tool: 'bash' }), expect.any(Number));
  const [id = ''] = await pending();
  await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
  expect(await start(nobody)).toBe('run');
});

test('a cancelled call ends at once, and its approval stays pending', async () => {
  const controller = new AbortController();
  const server = serveWithoutPolls();
  const call = start({ ...patient, waitMs: 3_600_000 }, { signal: controller.signal, server });
  const [id = ''] = await pending();
  controller.abort();
  expect(await call).toBe('aborted');
  await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
  expect(await start(patient, { signal: controller.signal })).toBe('aborted');
  expect(await start(nobody)).toBe('run');
});

test('an approval that expires during the wait ends the call, and no new one is requested', async () => {
  const call = start(patient);
  const [id = ''] = await pending();
  fixture.clock.now += ttlMs;
  expect(await call).toBe('E_APPROVAL_EXPIRED');
  const { rows } = await fixture.approvalInbox.list(me, {}, { limit: 10 });
  expect(rows.map(({ approvalId, state }) => [approvalId, state])).toEqual([[id, 'expired']]);
});

test('removing the account ends a waiting call', async () => {
  const call = start(patient);
  await pending();
  await fixture.records.change((tables) => tables.removeAllOf(mine));
  expect(await call).toBe('E_APPROVAL_MISMATCH');
});

function asking(answer: Decision | undefined): Asker {
  return { label: 'elicitation', waitMs: 0, ask: async () => answer };
}

test('the person at the client decides at once, and the record names that person', async () => {
  expect(await start(asking({ decision: 'approve', reason: 'go on' }))).toBe('run');
  expect(await start(asking({ decision: 'deny', reason: 'stop' }))).toBe('E_APPROVAL_DENIED');
  const { rows } = await fixture.approvalInbox.list(me, {}, { limit: 10 });
  expect(rows).toMatchObject([
    { state: 'denied', decidedBy: 'elicitation', reason: 'stop' },
    { state: 'used', decidedBy: 'elicitation', reason: 'go on' },
  ]);
  expect((await fixture.audit()).filter(({ actor }) => actor === 'elicitation')).toHaveLength(2);
});

test('if the person at the client does not answer, others can decide', async () => {
  expect(await start(asking(undefined))).toBe('E_APPROVAL_REQUIRED');
  const call = start({ ...asking(undefined), waitMs: 60_000 });
  const [id = ''] = await pending();
  await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
  expect(await call).toBe('run');
});

test('somebody else may decide while the person at the client is asked, and the question is withdrawn', async () => {
  let asked: AbortSignal | undefined;
  const call = start({
    label: 'elicitation',
    waitMs: 0,
    ask: (_, signal) => {
      asked = signal;
      return new Promise(() => {});
    },
  });
  const [id = ''] = await pending();
  await vi.waitFor(() => expect(asked).toBeDefined());
  await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
  expect(await call).toBe('run');
  expect(asked?.aborted).toBe(true);
});

test('an answer that comes after the decision changes nothing', async () => {
  const call = start({
    label: 'elicitation',
    waitMs: 0,
    async ask({ approvalId }) {
      await fixture.approvalInbox.decide(me, approvalId, { decision: 'deny', reason: 'the desk said no' });
      return { decision: 'approve' };
    },
  });
  expect(await call).toBe('E_APPROVAL_DENIED');
  const { rows } = await fixture.approvalInbox.list(me, {}, { limit: 10 });
  expect(rows).toMatchObject([{ state: 'denied', decidedBy: 'key key_1' }]);
});

test('a client that fails while it asks does not let the call run', async () => {
  const ask = () => Promise.reject(new AppError('E_APPROVAL_MISMATCH', 'the answer is of another call'));
  expect(await start({ label: 'elicitation', waitMs: 0, ask })).toBe('E_APPROVAL_MISMATCH');
  await pending();
});

test('the preview is rendered only for the first request of an approval', async () => {
  const preview = vi.fn(async () => 'ls');
  const call = callOf({ preview });
  await start(nobody, { call });
  await start(nobody, { call });
  const [id = ''] = await pending();
  await fixture.approvalInbox.decide(me, id, { decision: 'approve', scope: 'session' });
  expect(await start(nobody, { call })).toBe('run');
  expect(preview).toHaveBeenCalledOnce();
});

test('a preview that fails fails the call, and no approval is requested', async () => {
  const call = callOf({ preview: () => Promise.reject(new AppError('E_FILE_NOT_FOUND', 'no such file')) });
  expect(await start(nobody, { call })).toBe('E_FILE_NOT_FOUND');
  await pending(0);
});
