import { type AccountEvent, AccountEventsQuery } from '@croft/protocol';
import type { EventReader, PositionedEvent } from '../../core/account-events/account-events.ts';
import { maySeeEvent } from '../../core/account-events/may-see-event.ts';
import type { Actor } from '../../core/accounts/ports/registry.ts';
import { toEventStream, toEventText } from '../http/event-stream.ts';
import { defineRoute } from '../platform/route.ts';

export const eventRoutes = [
  defineRoute({
    method: 'GET',
    path: '/events',
    summary:
      'Everything that happens in the account, as server-sent events, each an AccountEvent in JSON. Rows of the audit ' +
      'trail have ids: a client continues after Last-Event-ID without a gap',
    scopes: ['read', 'approve'],
    ofFlags: true,
    ofAgents: true,
    raw: true,
    query: AccountEventsQuery,
    answerType: 'text/event-stream',
    headers: { 'Last-Event-ID': 'The id of the event that was seen last' },
    failures: ['E_TOO_MANY'],
    async handle({ events }, { actor, query, request, isStillAllowed }) {
      const after = request.headers.get('last-event-id') || query.after;
      const reader = await events.join(actor.accountId, after);
      return toEventStream({
        feed: toFeed(reader, actor),
        isStillAllowed,
        onEnd: () => reader[Symbol.dispose](),
        signal: request.signal,
      });
    },
  }),
];

function toFeed(reader: EventReader, actor: Actor) {
  return {
    more: reader.more,
    async take(): Promise<string | undefined> {
      const events = await reader.take();
      return events.length === 0 ? undefined : toText(events, actor, reader.position());
    },
    // The position without an event: a client that comes back starts here and not at its last event.
    ping: () => `id: ${reader.position()}\n: ping\n\n`,
  };
}

function toText(events: readonly PositionedEvent[], actor: Actor, position: string): string {
  const heard = events.filter(({ event }) => maySeeEvent(actor, event));
  const text = heard.map(({ id, event }) => toEventText(event satisfies AccountEvent, id)).join('');
  return text === '' ? `id: ${position}\n\n` : text;
}
