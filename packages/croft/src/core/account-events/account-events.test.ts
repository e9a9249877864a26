import type { AccountEvent } from '@croft/protocol';
import { expect, test } from 'vitest';
import type { AuditSource } from '../accounts/audit/audit-source.ts';
import { createAccountEvents } from './account-events.ts';

/** A trail of as many rows as a test says. */
function openTrail() {
  const trail = { length: 0 };
  const source: AuditSource = {
    last: async () => trail.length,
    after: async (position, limit) =>
      Array.from({ length: Math.min(limit, trail.length - position) }, (_, index) => toRow(position + index + 1)),
    before: async () => [],
  };
  return { trail, source };
}

function toRow(sequence: number) {
  const at = new Date(sequence).toISOString();
  return {
    sequence,
    accountId: 'a',
    at,
    actor: 'k',
    action: 'row',
    target: 't',
    details: '{}',
    previous: '',
    hash: '',
  };
}

const started = (call: string): Extract<AccountEvent, { type: 'call.started' }> => ({
  ...{ type: 'call.started', at: new Date(0).toISOString(), call, agentId: 'agent', session: 's' },
  ...{ tool: 'bash', workspace: 'w', title: '' },
});

test('a reader that takes nothing keeps the newest live events alone, and misses no row', async () => {
  const { trail, source } = openTrail();
  const events = createAccountEvents({ sourcesOf: () => [source], newest: async () => 0, now: () => new Date() });
  using slow = await events.join('a', undefined);
  for (let count = 0; count < 10_000; count++) events.publish('a', started(`call ${count}`));
  trail.length = 1000;
  const taken: AccountEvent[] = [];
  for (let some = await slow.take(); some.length > 0; some = await slow.take())
    taken.push(...some.map(({ event }) => event));
  const live = taken.flatMap((event) => (event.type === 'call.started' ? [event.call] : []));
  expect([live.length, live.at(0), live.at(-1)]).toEqual([256, 'call 9744', 'call 9999']);
  const rows = taken.flatMap((event) => (event.type === 'audit' ? [event.record.sequence] : []));
  expect(rows).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
});
