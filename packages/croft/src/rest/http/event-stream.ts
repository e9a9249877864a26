/** The text for one client, which reads a piece whenever it is ready. */
interface EventFeed {
  /** The next events as text; `undefined` if there are none yet. */
  take(): Promise<string | undefined> | string | undefined;
  /** Resolves when there may be more. */
  more(): Promise<void>;
  /** Whether no more events will come: the stream ends when the client has read all. Absent: the feed has no end. */
  isOver?(): boolean;
  /** The text of a ping. Without it, a comment. */
  ping?(): string;
}

interface EventStreamOptions {
  readonly feed: EventFeed;
  /** Whether the client still has access and what it follows still exists. Checked at every beat. */
  isStillAllowed(): Promise<boolean>;
  /** Called once at the end, whichever side ended the stream. */
  onEnd(): void;
  readonly signal: AbortSignal;
}

const beatMs = 5000;
/** Proxies close a connection on which nothing is sent for long. */
const beatsPerPing = 3;
/** After this many beats in which a client has taken nothing, it is disconnected. It can continue where it was. */
const maxStuckBeats = 12;
const comment = ': ping\n\n';
const encoder = new TextEncoder();

/**
 * Sends a feed as server-sent events. Events that the client has not read stay in the feed: at most one piece is
 * buffered here.
 */
export function toEventStream(options: EventStreamOptions): Response {
  const { signal } = options;
  let [beats, stuck, isOver] = [0, 0, signal.aborted];
  let [isTaken, isCancelled] = [false, false];
  let wake = Promise.withResolvers<void>();
  let end = () => {};
  let isFull = () => false;

  const timer = setInterval(() => {
    beats += 1;
    stuck = isFull() && !isTaken ? stuck + 1 : 0;
    isTaken = false;
    if (stuck >= maxStuckBeats) return end();
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
      isFull = () => (controller.desiredSize ?? 0) <= 0;
      end = () => {
        if (isOver) return;
        isOver = true;
        clearInterval(timer);
        options.onEnd();
        wake.resolve();
        if (!isCancelled) controller.close();
      };
      signal.addEventListener('abort', end, { once: true });
      controller.enqueue(encoder.encode(`retry: 2000\n\n${comment}`));
    },
    async pull(controller) {
      isTaken = true;
      const pulse = { beat: () => wake.promise, beats: () => beats, isOver: () => isOver };
      // A feed that fails ends the stream: the client comes back and continues where it was.
      const text = await nextText(options.feed, pulse).catch(() => undefined);
      if (text === undefined) end();
      else if (!isOver) controller.enqueue(encoder.encode(text));
    },
    cancel() {
      isCancelled = true;
      end();
    },
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

/** Returns the next events, or a ping if there were none for long. `undefined` at the end. */
async function nextText(feed: EventFeed, pulse: Pulse): Promise<string | undefined> {
  const since = pulse.beats();
  while (!pulse.isOver()) {
    const more = feed.more();
    const text = await feed.take();
    if (text !== undefined) return text;
    if (feed.isOver?.()) return undefined;
    if (pulse.beats() - since >= beatsPerPing) return feed.ping?.() ?? comment;
    await Promise.race([more, pulse.beat()]);
  }
  return undefined;
}

/** Whether the client asked for events in place of an answer. */
export function acceptsEvents({ headers }: Request): boolean {
  return headers.get('accept')?.includes('text/event-stream') ?? false;
}

/** Renders one event. The data is one line, because JSON has no line breaks. */
export function toEventText(data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}
