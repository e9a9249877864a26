import { Writable } from 'node:stream';
import { type FrameType, frameTypes, ProtocolFault } from './frames.ts';
import { frameCost, fullWindow, initialWindow, maxDataBytes } from './limits.ts';
import type { Link } from './link.ts';

export interface Road {
  send(type: FrameType, channel: number, payload?: Uint8Array): void;
  isFull(): boolean;
  whenRoom(listener: () => void): void;
}

/** The frames of one call. */
export function roadOf(link: Link, call: number): Road {
  return {
    send: (type, channel, payload) => void link.send(type, call, channel, payload),
    isFull: () => link.isFull(),
    whenRoom: (listener) => link.whenRoom(listener),
  };
}

const minPartBytes = 4096;

/** A channel that this side writes, as far as the other side gives credit. */
export class Outbound {
  readonly stream: Writable;
  readonly #channel: number;
  readonly #road: Road;
  readonly #finished = Promise.withResolvers<void>();
  readonly #pump = () => this.#send();
  #credit = initialWindow;
  #pending: Buffer | undefined;
  #onWritten: ((error?: Error | null) => void) | undefined;
  #isDone = false;
  #isSilent = false;

  constructor(channel: number, road: Road) {
    this.#channel = channel;
    this.#road = road;
    this.stream = this.#createStream();
  }

  grant(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > fullWindow) throw new ProtocolFault('more credit than a window');
    this.#send();
  }

  /** Resolves when everything that was written is on its way, or never will be. Nothing if it is so already. */
  end(): Promise<void> | undefined {
    if (!this.stream.writableEnded) this.stream.end();
    return this.#isDone ? undefined : this.#finished.promise;
  }

  /** The call is over, and the other side knows. */
  close(error?: Error): void {
    this.#isSilent = true;
    if (!this.#isDone) this.stream.destroy(error);
  }

  #createStream(): Writable {
    const stream = new Writable({
      highWaterMark: maxDataBytes,
      write: (chunk: Buffer, _encoding, done) => this.#take(chunk, done),
      // Crumbs that had to wait go on together.
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
    // Whoever listens is told; that nobody does is no reason to end the process.
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
      // Less would fit earlier, and be a frame of its own.
      if (size < Math.min(length, minPartBytes)) return;
      if (this.#road.isFull()) {
        this.#road.whenRoom(this.#pump);
        return;
      }
      this.#credit -= size + frameCost;
      this.#road.send(frameTypes.data, this.#channel, this.#pending.subarray(0, size));
      this.#pending = length > size ? this.#pending.subarray(size) : undefined;
    }
    const written = this.#onWritten;
    this.#onWritten = undefined;
    written?.();
  }

  #finish(type: FrameType): void {
    if (this.#isDone) return;
    this.#isDone = true;
    if (!this.#isSilent) this.#road.send(type, this.#channel);
    this.#finished.resolve();
  }
}
