import { cutText } from '../../lib/text/cut-text.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { createAckTracker } from './ack-tracker.ts';
import {
  decodeFrames,
  encodeFrame,
  type FrameType,
  frameTypes,
  type LinkFrame,
  ProtocolFault,
  stampFrame,
} from './frames.ts';
import { maxBufferedBytes } from './link-limits.ts';
import type { LinkWire } from './link-wire.ts';
import { createSendQueue } from './send-queue.ts';

/** `reconnecting`: there is no connection, but nothing is lost yet. `offline`: the link is lost for good. */
export type LinkState = 'online' | 'reconnecting' | 'offline';

interface LinkOptions {
  /** How long the link waits for a new connection before it is lost. */
  readonly graceMs: number;
  /**
   * Called once for each frame of the other side, in order. An exception ends the link, because the other side violated
   * the protocol.
   */
  onFrame(frame: LinkFrame): void;
  onLost(reason: string): void;
  onState?(state: LinkState): void;
}

/** Carries frames over one connection after another. Each frame arrives exactly once and in order. */
export class Link {
  readonly #options: LinkOptions;
  readonly #sendQueue = createSendQueue();
  readonly #acks = createAckTracker(() => this.#acknowledge());
  #state: LinkState = 'reconnecting';
  #wire: LinkWire | undefined;
  #isAckDue = false;
  #isFlushing = false;
  #grace: NodeJS.Timeout | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get state(): LinkState {
    return this.#state;
  }

  /** The last sequence number that was received from the other side. */
  get received(): number {
    return this.#acks.received();
  }

  /** Queues a frame and returns its sequence number. Frames that are queued at the same moment are sent together. */
  send(type: FrameType, call: number, channel?: number, payload?: Uint8Array): number {
    if (this.#state === 'offline') return 0;
    this.#scheduleFlush();
    if (this.#sendQueue.isTooFull()) setImmediate(() => this.lose('the other side does not take what it is sent'));
    return this.#sendQueue.add(type, call, channel, payload);
  }

  /** Queues a frame that leaves with the next frame or acknowledgement, and causes no message of its own at once. */
  sendLazily(type: FrameType, call: number): void {
    if (this.#state === 'offline') return;
    this.#acks.becomeDue();
    this.#sendQueue.add(type, call);
  }

  hasSent(sequence: number): boolean {
    return this.#sendQueue.hasSent(sequence);
  }

  isFull(): boolean {
    return this.#sendQueue.isFull();
  }

  onceDrained(listener: () => void): void {
    this.#sendQueue.whenHalfEmpty(listener);
  }

  /** `peerReceived`: the last sequence number that the other side says it received. */
  canResume(peerReceived: number): boolean {
    return this.#state !== 'offline' && this.#sendQueue.canResumeAfter(peerReceived);
  }

  /** Continues over this connection, from the first frame that the other side did not receive. */
  attach(wire: LinkWire, peerReceived: number): void {
    if (!this.canResume(peerReceived)) {
      wire.drop('it resumes at an impossible sequence number');
      this.lose('the other side resumes at an impossible sequence number');
      return;
    }
    this.#sendQueue.resumeAfter(peerReceived);
    const old = this.#wire;
    this.#wire = wire;
    old?.drop('another connection took its place');
    clearTimeout(this.#grace);
    this.#enter('online');
    wire.start({
      onMessage: (message) => this.#receive(wire, message),
      onDrain: () => this.#wire === wire && this.#scheduleFlush(),
      // An old connection that ends must not detach the connection that replaced it.
      onClose: () => this.#wire === wire && this.#detach(),
    });
    this.#scheduleFlush();
  }

  /** Asks now whether the other side responds. A new connection that arrives meanwhile counts as a response. */
  async respondsWithin(withinMs: number): Promise<boolean> {
    const wire = this.#wire;
    if (!wire) return false;
    return (await wire.respondsWithin(withinMs)) || (this.#wire !== undefined && this.#wire !== wire);
  }

  lose(reason: string): void {
    if (this.#state === 'offline') return;
    const last = this.#wire;
    this.#wire = undefined;
    clearTimeout(this.#grace);
    this.#acks.clear();
    this.#enter('offline');
    last?.drop(reason);
    this.#options.onLost(reason);
    this.#sendQueue.clear();
  }

  /** Sends a close frame, if there is a connection, and loses the link. */
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
    while (this.#sendQueue.hasRest() && this.#wire === wire && wire.buffered() < maxBufferedBytes) {
      wire.send(this.#sendQueue.takeBatch(this.#acks.tell()));
    }
    if (this.#isAckDue && !this.#acks.isTold()) {
      wire.send(stampFrame(encodeFrame(frameTypes.ack, 0), 0, this.#acks.tell()));
    }
    this.#isAckDue = false;
  }

  #receive(wire: LinkWire, message: Buffer): void {
    try {
      decodeFrames(message, (frame) => {
        if (this.#wire === wire) this.#accept(frame);
      });
    } catch (thrown) {
      if (thrown instanceof ProtocolFault) wire.drop(thrown.message);
      else this.lose('a frame could not be processed');
    }
  }

  #accept(frame: LinkFrame): void {
    if (!this.#sendQueue.acknowledge(frame.ack)) throw new ProtocolFault('an acknowledgement of what was never sent');
    if (frame.type === frameTypes.close) this.lose(`the other side ended it: ${toLine(frame.payload)}`);
    if (frame.sequence > 0 && this.#acks.take(frame.sequence, frame.payload.length)) this.#deliver(frame);
  }

  #deliver(frame: LinkFrame): void {
    try {
      this.#options.onFrame(frame);
    } catch (thrown) {
      this.lose(
        thrown instanceof ProtocolFault ? `the other side sent ${thrown.message}` : 'a frame could not be processed',
      );
    }
  }
}

/** Cleans a reason that the other side wrote. */
function toLine(payload: Buffer): string {
  return cutText(stripControlSequences(payload.toString()).replaceAll('\n', ' '), 200);
}
