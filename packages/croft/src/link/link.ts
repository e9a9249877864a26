import { cutText } from '../lib/text/cut-text.ts';
import { stripControl } from '../lib/text/strip-control.ts';
import {
  decodeFrames,
  encodeFrame,
  type Frame,
  type FrameType,
  frameTypes,
  ProtocolFault,
  stampFrame,
} from './frames.ts';
import { maxBufferedBytes } from './limits.ts';
import { createReceiving } from './receiving.ts';
import { createSending } from './sending.ts';
import type { Wire } from './wire.ts';

/** `reconnecting`: there is no connection, and nothing is lost yet. `offline`: lost for good. */
export type LinkState = 'online' | 'reconnecting' | 'offline';

export interface LinkOptions {
  /** How long it outlives its connection. */
  readonly graceMs: number;
  /** Each frame of the other side once, in order. What it throws ends the link: the other side does not keep the rules. */
  onFrame(frame: Frame): void;
  onLost(reason: string): void;
  onState?(state: LinkState): void;
}

/** Frames, once and in order, over one connection after another. */
export class Link {
  readonly #options: LinkOptions;
  readonly #sending = createSending();
  readonly #receiving = createReceiving(() => this.#acknowledge());
  #state: LinkState = 'reconnecting';
  #wire: Wire | undefined;
  #isAckDue = false;
  #isFlushing = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** The last sequence number of the other side that came. */
  get received(): number {
    return this.#receiving.received();
  }

  /** Answers its sequence number. Sent together with whatever else this moment brings. */
  send(type: FrameType, call: number, channel?: number, payload?: Uint8Array): number {
    if (this.#state === 'offline') return 0;
    this.#scheduleFlush();
    if (this.#sending.isTooFull()) setImmediate(() => this.lose('the other side does not take what it is sent'));
    return this.#sending.add(type, call, channel, payload);
  }

  /** With the next that is sent, or with the next acknowledgement. */
  sendLazily(type: FrameType, call: number): void {
    if (this.#state === 'offline') return;
    this.#receiving.becomeDue();
    this.#sending.add(type, call);
  }

  hasSent(sequence: number): boolean {
    return this.#sending.hasSent(sequence);
  }

  isFull(): boolean {
    return this.#sending.isFull();
  }

  whenRoom(listener: () => void): void {
    this.#sending.whenRoom(listener);
  }

  /** `peerReceived`: what the other side says it has. */
  canResume(peerReceived: number): boolean {
    return this.#state !== 'offline' && this.#sending.canResumeAfter(peerReceived);
  }

  /** Goes on over this connection, with the first frame that the other side does not have. */
  attach(wire: Wire, peerReceived: number): void {
    if (!this.canResume(peerReceived)) {
      wire.drop('it resumes at a place that cannot be');
      this.lose('the other side has lost its place');
      return;
    }
    this.#sending.resumeAfter(peerReceived);
    const old = this.#wire;
    this.#wire = wire;
    old?.drop('another connection took its place');
    clearTimeout(this.#grace);
    this.#enter('online');
    wire.start({
      onMessage: (message) => this.#receive(wire, message),
      onDrain: () => this.#wire === wire && this.#scheduleFlush(),
      // The end of an old connection is nothing to the one that took its place.
      onClose: () => this.#wire === wire && this.#detach(),
    });
    this.#scheduleFlush();
  }

  lose(reason: string): void {
    if (this.#state === 'offline') return;
    const last = this.#wire;
    this.#wire = undefined;
    clearTimeout(this.#grace);
    this.#receiving.clear();
    this.#enter('offline');
    last?.drop(reason);
    this.#options.onLost(reason);
    this.#sending.clear();
  }

  /** The other side is told, if there is a connection. */
  close(reason: string): void {
    const last = this.#wire;
    this.#wire = undefined;
    last?.send(stampFrame(encodeFrame(frameTypes.close, 0, 0, Buffer.from(cutText(reason, 300))), 0, this.received));
    last?.end();
    this.lose(reason);
  }

  #detach(): void {
    const { graceMs } = this.#options;
    this.#wire = undefined;
    this.#grace = setTimeout(() => this.lose(`the connection was gone for ${graceMs / 1000} s`), graceMs).unref();
    this.#enter('reconnecting');
  }

  #enter(state: LinkState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#options.onState?.(state);
  }

  #scheduleFlush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #acknowledge(): void {
    this.#isAckDue = true;
    this.#scheduleFlush();
  }

  #flush(): void {
    this.#isFlushing = false;
    const wire = this.#wire;
    if (!wire) return;
    while (this.#sending.hasRest() && this.#wire === wire && wire.buffered() < maxBufferedBytes) {
      wire.send(this.#sending.takeBatch(this.#receiving.tell()));
    }
    if (this.#isAckDue && !this.#receiving.isTold()) {
      wire.send(stampFrame(encodeFrame(frameTypes.ack, 0), 0, this.#receiving.tell()));
    }
    this.#isAckDue = false;
  }

  #receive(wire: Wire, message: Buffer): void {
    try {
      decodeFrames(message, (frame) => {
        if (this.#wire === wire) this.#accept(frame);
      });
    } catch (thrown) {
      if (thrown instanceof ProtocolFault) wire.drop(thrown.message);
      else this.lose('a frame could not be taken');
    }
  }

  #accept(frame: Frame): void {
    if (!this.#sending.acknowledge(frame.ack)) throw new ProtocolFault('an acknowledgement of what was never sent');
    if (frame.type === frameTypes.close) this.lose(`the other side ended it: ${toLine(frame.payload)}`);
    if (frame.sequence > 0 && this.#receiving.take(frame.sequence, frame.payload.length)) this.#deliver(frame);
  }

  #deliver(frame: Frame): void {
    try {
      this.#options.onFrame(frame);
    } catch (thrown) {
      this.lose(
        thrown instanceof ProtocolFault ? `the other side sent ${thrown.message}` : 'a frame could not be taken',
      );
    }
  }
}

/** Written by the other side. */
function toLine(payload: Buffer): string {
  return cutText(stripControl(payload.toString()).replaceAll('\n', ' '), 200);
}
