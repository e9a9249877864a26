import type { FileEvent } from '@croft/protocol';
import type { ChangeBatch, ChangeFeed } from '../../core/content/changes/change-feed.ts';
import { toEventText } from '../http/event-stream.ts';

/** Converts a change feed to events for one client, after the event that the client saw last. */
export function toFileEventFeed(feed: ChangeFeed, lastId: string | undefined, now: () => Date) {
  const cursor = feed.enter(lastId);
  return {
    more: feed.more,
    take(): string | undefined {
      const batch = feed.take(cursor);
      return batch && toText(batch, now());
    },
  };
}

function toText({ isReset, changes, id }: ChangeBatch, now: Date): string {
  const reset = isReset
    ? [toEvent(changes.length === 0 ? id : undefined, { type: 'reset', ts: now.toISOString() })]
    : [];
  const events = changes.map(({ id: own, change: { path, type, at } }) =>
    toEvent(own, { type, path, ts: at.toISOString() }),
  );
  return [...reset, ...events].join('');
}

function toEvent(id: string | undefined, event: FileEvent): string {
  return toEventText(event, id);
}
