import { expect, test } from 'vitest';
import { createTickets } from './terminal-tickets.ts';

const owner = { accountId: 'a', person: 'key 1', sandboxId: 's', workspaceId: 'w' };
const request = { size: { rows: 24, columns: 80 } };

test('a ticket is valid once, until it expires, and only by the key that signed it', () => {
  let nowMs = 1_000_000;
  const key = Buffer.alloc(32, 1);
  const tickets = createTickets(key, () => nowMs);
  const [one, two, late] = [1, 2, 3].map(() => tickets.issue(owner, request).ticket) as [string, string, string];
  expect(tickets.take(one)).toMatchObject({ ...owner, ...request });
  expect(tickets.take(one)).toBeUndefined();
  nowMs += 29_999;
  expect(tickets.take(two)).toMatchObject(owner);
  // A used ticket is stored until it expires.
  expect(tickets.take(one)).toBeUndefined();
  nowMs += 1;
  expect(tickets.take(late)).toBeUndefined();
  const stranger = createTickets(Buffer.alloc(32, 2), () => nowMs);
  expect(stranger.take(tickets.issue(owner, request).ticket)).toBeUndefined();
  expect(tickets.take(stranger.issue(owner, request).ticket)).toBeUndefined();
});
