import type { FileEvent } from '@croft/protocol';
import type { Batch, ChangeFeed, Cursor } from '../../core/content/change-feed.ts';

export interface EventsOptions {
  readonly feed: ChangeFeed;
  readonly lastId: string | undefined;
  readonly now: () => Date;
  /** Whether who reads still may, and what is read is still there. Asked again and again. */
  mayGoOn(): Promise<boolean>;
  /** When it is over, whoever ended it. */
  onEnd(): void;
  readonly signal: AbortSignal;
}

const beatMs = 5000;
/** Proxies let go of a connection on which nothing is said for long. */
const beatsPerPing = 4;
const encoder = new TextEncoder();

/** A change feed as server-sent events. What its reader does not take stays where everybody's is: nothing piles up here. */
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
    void options.mayGoOn().then(
      (may) => may || end(),
      // Records that cannot be read now may be again by the next beat.
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

/** The next changes, or a ping when there were none for long. */
async function nextText({ feed, now }: EventsOptions, cursor: Cursor, pulse: Pulse): Promise<string | undefined> {
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

function toText({ isReset, changes, id }: Batch, now: Date): string {
  const reset = isReset
    ? [toEvent(changes.length === 0 ? id : undefined, { type: 'reset', ts: now.toISOString() })]
    : [];
  const told = changes.map(({ id: own, change: { path, type, at } }) =>
    toEvent(own, { type, path, ts: at.toISOString() }),
  );
  return [...reset, ...told].join('');
}

function toEvent(id: string | undefined, event: FileEvent): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
}
