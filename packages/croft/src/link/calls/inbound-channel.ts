import { Readable } from 'node:stream';
import { ProtocolFault } from '../transport/frames.ts';
import { frameCost, fullWindow, initialWindow } from '../transport/link-limits.ts';

/** A channel that the other side writes and this side reads. The other side may write as fast as this side reads. */
export class InboundChannel {
  readonly #credit: ReturnType<typeof createCredit>;
  readonly #queue: Buffer[] = [];
  #stream: Readable | undefined;
  #isWanted = false;
  #isDropped = false;
  #isEnded = false;
  #failure: Error | undefined;

  constructor(grant: (bytes: number) => void) {
    this.#credit = createCredit(grant);
  }

  get stream(): Readable {
    this.#stream ??= this.#createStream();
    return this.#stream;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  receive(payload: Buffer): void {
    if (this.#isEnded) throw new ProtocolFault('data after its end');
    this.#credit.use(payload);
    if (this.#isDropped) this.#credit.giveBack(payload);
    else this.#queue.push(own(payload));
    this.#pump();
  }

  /** The other side has written everything. */
  end(): void {
    this.#isEnded = true;
    this.#pump();
  }

  fail(error: Error): void {
    this.#failure ??= error;
    this.#isEnded = true;
    this.#stream?.destroy(error);
  }

  #createStream(): Readable {
    const stream = new Readable({
      highWaterMark: initialWindow,
      read: () => {
        this.#isWanted = true;
        this.#pump();
      },
      destroy: (error, done) => {
        this.#isDropped = true;
        for (const payload of this.#queue.splice(0)) this.#credit.giveBack(payload);
        done(error);
      },
    });
    // Without a listener, Node would end the process for an error on this stream.
    stream.on('error', () => {});
    return this.#failure ? stream.destroy(this.#failure) : stream;
  }

  #pump(): void {
    const stream = this.#stream;
    if (!stream || this.#isDropped || this.#failure) return;
    while (this.#isWanted) {
      const payload = this.#queue.shift();
      if (!payload) break;
      this.#isWanted = false;
      // `push` may call `read`, which sets `#isWanted` again.
      if (stream.push(payload)) this.#isWanted = true;
      this.#credit.giveBack(payload);
    }
    if (this.#isEnded && this.#queue.length === 0) stream.push(null);
  }
}

/** Copies a small payload, so that it does not keep the whole message it came in alive. */
function own(payload: Buffer): Buffer {
  return payload.length * 4 < payload.buffer.byteLength ? Buffer.from(payload) : payload;
}

function createCredit(grant: (bytes: number) => void) {
  let window = initialWindow;
  /** `allowed`: bytes that the other side may still send. `read`: bytes that were read and not yet granted again. */
  let allowed = initialWindow;
  let read = 0;

  return {
    use(payload: Buffer): void {
      allowed -= payload.length + frameCost;
      if (allowed < 0) throw new ProtocolFault('data without credit');
    },
    giveBack(payload: Buffer): void {
      read += payload.length + frameCost;
      if (read < window / 4) return;
      // Once anything is read, the window grows to its full size.
      const granted = read + fullWindow - window;
      window = fullWindow;
      allowed += granted;
      read = 0;
      grant(granted);
    },
  };
}
