import type { FileEvent } from '@croft/protocol';
import type { ChangeBatch, ChangeFeed, FeedCursor } from '../../core/content/changes/change-feed.ts';

interface EventsOptions {
  readonly feed: ChangeFeed;
  readonly lastId: string | undefined;
  readonly now: () => Date;
  /** Whether the client still has access and the workspace still exists. Checked at every beat. */
  isStillAllowed(): Promise<boolean>;
  /** Called once at the end, whichever side ended the stream. */
  onEnd(): void;
  readonly signal: AbortSignal;
}

const beatMs = 5000;
/** Proxies close a connection on which nothing is sent for long. */
const beatsPerPing = 4;
const encoder = new TextEncoder();

/**
 * Sends a change feed as server-sent events. Changes that the client has not read stay in the shared feed: nothing is
 * buffered here.
 */
export function toEventStream(options: EventsOptions): Response {
  const { feed, lastId, signal } = options;
  const cursor = feed.enter(lastId);
  let [beats, isOver] = [0, false];
  let wake = Promise.withResolvers<void>();
  let end = () => {};

  const timer = setInterval(() => {
    beats += 1;
    wake.resolve();
    wake = Promise.withResolvers<void>();
    void options.isStillAllowed().then(
      (may) => may || end(),
      // The records may be readable again at the next beat.
      () => {},
    );
  }, beatMs);

  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      end = () => {
        if (isOver) return;
        isOver = true;
        clearInterval(timer);
        options.onEnd();
        wake.resolve();
        controller.close();
      };
      signal.addEventListener('abort', end, { once: true });
      controller.enqueue(encoder.encode('retry: 2000\n\n: ping\n\n'));
    },
    async pull(controller) {
      const text = await nextText(options, cursor, {
        beat: () => wake.promise,
        beats: () => beats,
        isOver: () => isOver,
      });
      if (text !== undefined && !isOver) controller.enqueue(encoder.encode(text));
    },
    cancel: () => end(),
  });
  return new Response(stream, { headers: eventHeaders });
}

const eventHeaders = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
};

interface Pulse {
  beat(): Promise<void>;
  beats(): number;
  isOver(): boolean;
}

/** Returns the next changes, or a ping if there were none for long. */
async function nextText({ feed, now }: EventsOptions, cursor: FeedCursor, pulse: Pulse): Promise<string | undefined> {
  const since = pulse.beats();
  while (!pulse.isOver()) {
    const more = feed.more();
    const batch = feed.take(cursor);
    if (batch) return toText(batch, now());
    if (pulse.beats() - since >= beatsPerPing) return ': ping\n\n';
    await Promise.race([more, pulse.beat()]);
  }
  return undefined;
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
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
}
