import { Writable } from 'node:stream';
import { type FrameType, frameTypes, ProtocolFault } from '../transport/frames.ts';
import type { Link } from '../transport/link.ts';
import { frameCost, fullWindow, initialWindow, maxDataBytes } from '../transport/link-limits.ts';

export interface FrameSender {
  send(type: FrameType, channel: number, payload?: Uint8Array): void;
  isFull(): boolean;
  onceDrained(listener: () => void): void;
}

/** Sends the frames of one call over a link. */
export function frameSenderOf(link: Link, call: number): FrameSender {
  return {
    send: (type, channel, payload) => void link.send(type, call, channel, payload),
    isFull: () => link.isFull(),
    onceDrained: (listener) => link.onceDrained(listener),
  };
}

const minPartBytes = 4096;

/** A channel that this side writes, as fast as the other side grants credit. */
export class OutboundChannel {
  readonly stream: Writable;
  readonly #channel: number;
  readonly #sender: FrameSender;
  readonly #finished = Promise.withResolvers<void>();
  readonly #pump = () => this.#send();
  #credit = initialWindow;
  #pending: Buffer | undefined;
  #onWritten: ((error?: Error | null) => void) | undefined;
  #isDone = false;
  #isSilent = false;

  constructor(channel: number, road: FrameSender) {
    this.#channel = channel;
    this.#sender = road;
    this.stream = this.#createStream();
  }

  grant(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > fullWindow) throw new ProtocolFault('more credit than a window');
    this.#send();
  }

  /**
   * Ends the stream. Resolves when everything that was written has been queued, or never can be. Returns `undefined` if
   * that is already so.
   */
  end(): Promise<void> | undefined {
    if (!this.stream.writableEnded) this.stream.end();
    return this.#isDone ? undefined : this.#finished.promise;
  }

  /** The call is over and the other side knows, so that no `end` or `break` frame is sent. */
  close(error?: Error): void {
    this.#isSilent = true;
    if (!this.#isDone) this.stream.destroy(error);
  }

  #createStream(): Writable {
    const stream = new Writable({
      highWaterMark: maxDataBytes,
      write: (chunk: Buffer, _encoding, done) => this.#take(chunk, done),
      // Small chunks that had to wait are sent together.
      writev: (chunks, done) => this.#take(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
      final: (done) => {
        this.#finish(frameTypes.end);
        done();
      },
      destroy: (error, done) => {
        this.#pending = undefined;
        this.#onWritten = undefined;
        this.#finish(frameTypes.break);
        done(error);
      },
    });
    // Without a listener, Node would end the process for an error on this stream.
    return stream.on('error', () => {});
  }

  #take(chunk: Buffer, done: (error?: Error | null) => void): void {
    this.#pending = chunk.length > 0 ? chunk : undefined;
    this.#onWritten = done;
    this.#send();
  }

  #send(): void {
    while (this.#pending) {
      const { length } = this.#pending;
      const size = Math.min(length, maxDataBytes, this.#credit - frameCost);
      // Waits for more credit rather than sending a very small frame.
      if (size < Math.min(length, minPartBytes)) return;
      if (this.#sender.isFull()) {
        this.#sender.onceDrained(this.#pump);
        return;
      }
      this.#credit -= size + frameCost;
      this.#sender.send(frameTypes.data, this.#channel, this.#pending.subarray(0, size));
      this.#pending = length > size ? this.#pending.subarray(size) : undefined;
    }
    const written = this.#onWritten;
    this.#onWritten = undefined;
    written?.();
  }

  #finish(type: FrameType): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (!this.#isSilent) this.#sender.send(type, this.#channel);
    this.#finished.resolve();
  }
}
