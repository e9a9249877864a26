import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Era, eras, structuredOf } from '../support/harness.ts';
import { type ApprovalsFixture, actorOf, mine, openFixture } from './fixture.ts';
import { type Answer, openMcp } from './mcp-fixture.ts';

let fixture: ApprovalsFixture;

beforeEach(async () => {
  fixture = await openFixture();
});

afterEach(() => fixture[Symbol.asyncDispose]());

const me = actorOf(mine);
const approve: Answer = { action: 'accept', content: { decision: 'approve' } };
const list = async () => (await fixture.approvalInbox.list(me, {}, { limit: 10 })).rows;

async function pending(): Promise<string> {
  return vi.waitFor(async () => {
    const [row] = await list();
    expect(row?.state).toBe('pending');
    return row?.approvalId ?? '';
  });
}

describe.each(eras)('a client of %s that asks its person', (era: Era) => {
  test('runs an approved call once, and shows exactly that call', async () => {
    await using mcp = openMcp(fixture);
    await using one = await mcp.connect({ era, answer: () => approve });
    expect(await one.call('echo hi\u202e\n> The agent wants to run read')).toBe('ran');
    expect(one.questions[0]?.message).toContain(
      'The agent wants to run bash in ws_1. May it?\n\n> {"command":"echo hi<U+202E>\\n>',
    );
    expect(await one.call('echo hi\u202e\n> The agent wants to run read')).toBe('ran');
    expect(one.questions).toHaveLength(2);
    expect(await list()).toMatchObject(
      Array.from({ length: 2 }, () => ({ state: 'used', scope: 'once', decidedBy: 'elicitation' })),
    );
  });

  test('shows no line of the input that could pass for a line of ours', async () => {
    await using mcp = openMcp(fixture);
    await using one = await mcp.connect({ era, answer: () => approve });
    await one.call('a\nb\r\nc\u2028d');
    const lines = (one.questions[0]?.message ?? '').split('\n').slice(2, -2);
    expect(lines.every((line) => line.startsWith('> '))).toBe(true);
  });

  test('does not run a denied call, by either way of denying, and gets the reason', async () => {
    await using mcp = openMcp(fixture);
    const answers: Answer[] = [
      { action: 'accept', content: { decision: 'deny', reason: 'not here' } },
      { action: 'decline' },
    ];
    await using one = await mcp.connect({ era, answer: () => answers.shift() ?? approve });
    const denied = await one.client.callTool({ name: 'bash', arguments: { command: 'one' } });
    expect(structuredOf(denied)).toMatchObject({
      error: { code: 'E_APPROVAL_DENIED', details: { reason: 'not here' } },
    });
    expect(await one.call('two')).toBe('E_APPROVAL_DENIED');
    expect(await one.call('one')).toBe('E_APPROVAL_DENIED');
    expect(mcp.ran).toEqual([]);
    expect(one.questions).toHaveLength(2);
  });

  test('asks once for a call that is approved for the session', async () => {
    await using mcp = openMcp(fixture);
    const forSession: Answer = { action: 'accept', content: { decision: 'approve', scope: 'session' } };
    await using one = await mcp.connect({ era, answer: () => forSession });
    for (const command of ['ls', 'ls', 'ls']) expect(await one.call(command)).toBe('ran');
    expect(one.questions).toHaveLength(1);
    expect(await one.call('ls -a')).toBe('ran');
    expect(one.questions).toHaveLength(2);
  });

  test('names the waiting approval if the person does not answer, and a decision elsewhere counts', async () => {
    await using mcp = openMcp(fixture, { waitMs: 300 });
    await using one = await mcp.connect({ era, answer: () => ({ action: 'cancel' }) });
    const result = await one.client.callTool({ name: 'bash', arguments: { command: 'ls' } });
    const id = await pending();
    expect(result.isError).toBe(true);
    expect(structuredOf(result)).toMatchObject({
      error: { code: 'E_APPROVAL_REQUIRED', details: { approval: { approvalId: id } } },
    });
    expect(JSON.stringify(result)).not.toContain('"input"');
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    expect(await one.call('ls')).toBe('ran');
    expect(one.questions).toHaveLength(1);
  });

  test('is not trusted if the operator says so', async () => {
    await using mcp = openMcp(fixture, { trustsClients: false });
    await using one = await mcp.connect({ era, answer: () => approve });
    expect(await one.call('ls')).toBe('E_APPROVAL_REQUIRED');
    expect(one.questions).toEqual([]);
  });
});

describe.each(eras)('a client of %s that cannot ask', (era: Era) => {
  test('waits for the decision, runs once after an approval, and not again', async () => {
    await using mcp = openMcp(fixture, { waitMs: 60_000 });
    await using one = await mcp.connect({ era });
    const onprogress = vi.fn();
    const call = one.call('ls', {}, { onprogress });
    const id = await pending();
    await vi.waitFor(() =>
      expect(onprogress).toHaveBeenCalledWith({ progress: 1, message: expect.stringContaining(id) }),
    );
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    expect(await call).toBe('ran');
    expect(mcp.ran).toHaveLength(1);
  });

  test('gets the id of the approval after a while, and repeats the call', async () => {
    await using mcp = openMcp(fixture, { waitMs: 300 });
    await using one = await mcp.connect({ era });
    expect(await one.call('ls')).toBe('E_APPROVAL_REQUIRED');
    const id = await pending();
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    expect(await one.call('ls -a')).toBe('E_APPROVAL_REQUIRED');
    expect(await one.call('ls')).toBe('ran');
    expect(await one.call('ls')).toBe('E_APPROVAL_REQUIRED');
    expect(mcp.ran).toEqual([{ command: 'ls' }]);
  });

  test('cancels its call, and a later approval does not run it', async () => {
    await using mcp = openMcp(fixture, { waitMs: 60_000 });
    await using one = await mcp.connect({ era });
    const controller = new AbortController();
    const call = one.call('ls', {}, { signal: controller.signal }).catch(() => 'taken back');
    const id = await pending();
    controller.abort();
    expect(await call).toBe('taken back');
    await vi.waitFor(() => expect(mcp.underWay()).toBe(0));
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    const { state } = await fixture.approvalInbox.get(me, id);
    expect(state).toBe('approved');
    expect(mcp.ran).toEqual([]);
  });

  test('cannot use an approval of another session', async () => {
    await using mcp = openMcp(fixture);
    await using one = await mcp.connect({ era, session: 'one' });
    await using two = await mcp.connect({ era, session: 'two' });
    expect(await one.call('ls')).toBe('E_APPROVAL_REQUIRED');
    await fixture.approvalInbox.decide(me, await pending(), { decision: 'approve' });
    expect(await two.call('ls')).toBe('E_APPROVAL_REQUIRED');
    expect(await one.call('ls')).toBe('ran');
  });
});

describe('a client of 2025', () => {
  test('stops asking when somebody decides elsewhere', async () => {
    await using mcp = openMcp(fixture);
    await using one = await mcp.connect({ era: '2025', answer: () => new Promise<Answer>(() => {}) });
    const call = one.call('ls');
    const id = await pending();
    await vi.waitFor(() => expect(one.questions).toHaveLength(1));
    await fixture.approvalInbox.decide(me, id, { decision: 'approve' });
    expect(await call).toBe('ran');
  });

  test('that breaks while it asks, or answers in an unknown form, has not approved', async () => {
    await using mcp = openMcp(fixture);
    const answers = [
      () => Promise.reject(new Error('no window')),
      () => ({ action: 'accept' }) as const,
      () => ({ action: 'accept', content: {} }) as const,
      () => ({ action: 'accept', content: { decision: 'APPROVE' } }) as const,
    ];
    await using one = await mcp.connect({ era: '2025', answer: () => answers.shift()?.() ?? approve });
    for (const command of ['a', 'b', 'c', 'd']) expect(await one.call(command)).toBe('E_APPROVAL_REQUIRED');
    expect(mcp.ran).toEqual([]);
  });
});

describe('a client of 2026 that sends answers by hand', () => {
  type Asked = { requestState: string; inputRequests: object };

  async function open(session = 'one') {
    const mcp = openMcp(fixture);
    const one = await mcp.connect({ era: '2026', answer: () => approve, session });
    return {
      mcp,
      one,
      async ask(command: string): Promise<Asked> {
        const options = { allowInputRequired: true };
        return (await one.client.callTool({ name: 'bash', arguments: { command } }, options)) as unknown as Asked;
      },
      /** Repeats the same call with `answer` in it, and returns its answer. */
      async retry(command: string, requestState: string | undefined, answer: unknown = approve): Promise<string> {
        const more = { requestState, inputResponses: { approval: answer } };
        const result = await one.client
          .callTool({ name: 'bash', arguments: { command }, ...more } as never, { allowInputRequired: true })
          .catch((thrown: Error) => ({ refused: thrown.message }));
        if ('refused' in result) return String(result.refused);
        if ('resultType' in result) return 'asked again';
        return structuredOf(result)?.error?.code ?? 'ran';
      },
      async [Symbol.asyncDispose]() {
        await one.client.close();
        await mcp.face.close();
      },
    };
  }

  test('runs with the answer to its question, and a replay of the answer does not', async () => {
    await using hand = await open();
    const { requestState } = await hand.ask('ls');
    expect(await hand.retry('ls', requestState)).toBe('ran');
    expect(await hand.retry('ls', requestState)).toBe('E_APPROVAL_MISMATCH');
    expect(hand.mcp.ran).toHaveLength(1);
  });

  test('runs one of twenty concurrent answers', async () => {
    await using hand = await open();
    const { requestState } = await hand.ask('ls');
    const answers = await Promise.all(Array.from({ length: 20 }, () => hand.retry('ls', requestState)));
    expect(answers.filter((answer) => answer === 'ran')).toHaveLength(1);
    expect(hand.mcp.ran).toHaveLength(1);
  });

  test('cannot use the answer for another call', async () => {
    await using hand = await open();
    const [harmless, other] = [await hand.ask('ls'), await hand.ask('rm -rf ~')];
    expect(await hand.retry('rm -rf ~', harmless.requestState)).toBe('E_APPROVAL_MISMATCH');
    expect((await list()).map(({ state }) => state)).toEqual(['pending', 'pending']);
    expect(hand.mcp.ran).toEqual([]);
    expect(await hand.retry('rm -rf ~', other.requestState, { action: 'decline' })).toBe('E_APPROVAL_DENIED');
  });

  test('cannot use the answer for another session', async () => {
    await using hand = await open('one');
    await using thief = await open('two');
    const { requestState } = await hand.ask('ls');
    const params = { name: 'bash', arguments: { command: 'ls' }, requestState };
    expect(await thief.one.client.callTool(params as never)).toMatchObject({
      content: [{ text: expect.stringContaining('the question of another session') }],
      _meta: { 'croft/error': { code: 'E_APPROVAL_MISMATCH' } },
    });
    expect(thief.mcp.ran).toEqual([]);
    expect(await hand.retry('ls', requestState)).toBe('ran');
  });

  test.each([
    ['without what it was given', () => undefined, 'asked again'],
    ['with what somebody made up', () => 'v1.e30.AAAA', /requestState/],
    ['with what it changed', (state: string) => state.replace(/^v1\.../, 'v1.eyI'), /requestState/],
  ])('has not approved with %s', async (_, change, expected) => {
    await using hand = await open();
    const { requestState } = await hand.ask('ls');
    const changed = change(requestState);
    expect(changed).not.toBe(requestState);
    expect(await hand.retry('ls', changed)).toMatch(expected);
    expect(hand.mcp.ran).toEqual([]);
  });

  test.each([
    ['nothing', null],
    ['no content', { action: 'accept' }],
    ['another word', { action: 'accept', content: { decision: 'yes' } }],
    ['a list', { action: 'accept', content: { decision: ['approve'] } }],
    ['the form of another method', { roots: [] }],
  ])('is asked again for %s', async (_, answer) => {
    await using hand = await open();
    const { requestState } = await hand.ask('ls');
    expect(await hand.retry('ls', requestState, answer)).toBe('asked again');
    expect(hand.mcp.ran).toEqual([]);
    expect(await list()).toHaveLength(1);
  });

  test('cannot read the session from the state that it carries', async () => {
    await using hand = await open('a-name-of-its-own');
    const { requestState } = await hand.ask('ls');
    const body = Buffer.from(requestState.split('.')[1] ?? '', 'base64url').toString();
    expect(body).toContain('ap_');
    expect(body).not.toMatch(/key_1|a-name-of-its-own/);
  });
});
