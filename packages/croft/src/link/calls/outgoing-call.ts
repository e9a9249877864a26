import { AppError } from '@croft/protocol';
import { frameTypes, type LinkFrame } from '../transport/frames.ts';
import type { Link } from '../transport/link.ts';
import { CallChannels } from './call-channels.ts';
import { decodeError, lostError } from './error-codec.ts';
import { decodeJson, encodeJson } from './json-codec.ts';
import { frameSenderOf } from './outbound-channel.ts';
import type { CallOptions, PendingCall } from './peer.ts';

const longestTimer = 2 ** 31 - 1;

/** A call that this side made. */
export class OutgoingCall {
  readonly id: number;
  readonly method: string;
  readonly #link: Link;
  readonly #channels: CallChannels;
  readonly #answer = Promise.withResolvers<unknown>();
  /** The sequence number of the frame that opened the call. */
  #sequence = 0;
  #isFinished = false;
  #stopWaiting: (() => void) | undefined;

  constructor(link: Link, id: number, method: string) {
    this.id = id;
    this.method = method;
    this.#link = link;
    this.#channels = new CallChannels(frameSenderOf(link, id), (error) => this.#cancel(error));
    // An unhandled rejection must not end the process when nobody awaits the answer.
    this.#answer.promise.catch(() => {});
  }

  get pending(): PendingCall {
    return { ...this.#channels.duplex, answer: this.#answer.promise };
  }

  /** Throws if the params cannot be sent or the signal is already aborted. */
  open(params: unknown, { signal, deadlineMs }: CallOptions): void {
    const { id, method } = this;
    signal?.throwIfAborted();
    const body = encodeJson({ method, params, deadlineMs }, `the params of ${method}`);
    const overdue = () => new AppError('E_TIMEOUT', `${method} was not answered within ${deadlineMs} ms`);
    this.#stopWaiting = waitFor(signal, deadlineMs, (isOverdue) =>
      this.#cancel(isOverdue ? overdue() : signal?.reason),
    );
    this.#sequence = this.#link.send(frameTypes.open, id, 0, body);
  }

  /** Returns whether the other side has answered. */
  receive(frame: LinkFrame): boolean {
    if (frame.type !== frameTypes.answer && frame.type !== frameTypes.fail) {
      if (!this.#isFinished) this.#channels.receive(frame);
      return false;
    }
    const body = decodeJson(frame.payload);
    if (!this.#isFinished && frame.type === frameTypes.answer) this.#succeed(body);
    else if (!this.#isFinished) this.fail(decodeError(body));
    return true;
  }

  fail(thrown: unknown): void {
    if (this.#isFinished) return;
    this.#finish(thrown instanceof Error ? thrown : AppError.from(thrown));
    this.#answer.reject(thrown);
  }

  lose(reason: string): void {
    this.fail(lostError(reason, this.method, this.#link.hasSent(this.#sequence)));
  }

  #succeed(body: unknown): void {
    this.#finish();
    this.#answer.resolve(body);
  }

  #finish(error?: Error): void {
    this.#isFinished = true;
    this.#stopWaiting?.();
    this.#channels.end(error);
  }

  #cancel(thrown: unknown): void {
    if (this.#isFinished) return;
    this.fail(thrown);
    this.#link.send(frameTypes.cancel, this.id);
  }
}

function waitFor(signal: AbortSignal | undefined, ms: number | undefined, onOver: (isOverdue: boolean) => void) {
  const onAbort = () => onOver(false);
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = ms === undefined ? undefined : setTimeout(onOver, Math.min(ms, longestTimer), true).unref();
  return () => {
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(timer);
  };
}
