import { AppError } from '@croft/protocol';
import { decodeError, lostError } from './errors.ts';
import { type Frame, frameTypes } from './frames.ts';
import { decodeJson, encodeJson } from './json.ts';
import type { Link } from './link.ts';
import { roadOf } from './outbound.ts';
import type { Calling, CallOptions } from './peer.ts';
import { Talk } from './talk.ts';

const longestTimer = 2 ** 31 - 1;

/** A call of this side. */
export class OutgoingCall {
  readonly id: number;
  readonly method: string;
  readonly #link: Link;
  readonly #talk: Talk;
  readonly #answer = Promise.withResolvers<unknown>();
  /** Of the frame that opened it. */
  #sequence = 0;
  #isSettled = false;
  #stopWaiting: (() => void) | undefined;

  constructor(link: Link, id: number, method: string) {
    this.id = id;
    this.method = method;
    this.#link = link;
    this.#talk = new Talk(roadOf(link, id), (error) => this.#takeBack(error));
    // Whoever does not ask for the answer is not failed by it.
    this.#answer.promise.catch(() => {});
  }

  get calling(): Calling {
    return { ...this.#talk.conversation, answer: this.#answer.promise };
  }

  /** Throws for what can never be sent. */
  open(params: unknown, { signal, deadlineMs }: CallOptions): void {
    const { id, method } = this;
    signal?.throwIfAborted();
    const body = encodeJson({ method, params, deadlineMs }, `the params of ${method}`);
    const overdue = () => new AppError('E_TIMEOUT', `${method} was not answered within ${deadlineMs} ms`);
    this.#stopWaiting = waitFor(signal, deadlineMs, (isOverdue) =>
      this.#takeBack(isOverdue ? overdue() : signal?.reason),
    );
    this.#sequence = this.#link.send(frameTypes.open, id, 0, body);
  }

  /** Answers whether it is over at the other side. */
  receive(frame: Frame): boolean {
    if (frame.type !== frameTypes.answer && frame.type !== frameTypes.fail) {
      if (!this.#isSettled) this.#talk.receive(frame);
      return false;
    }
    const body = decodeJson(frame.payload);
    if (!this.#isSettled && frame.type === frameTypes.answer) this.#succeed(body);
    else if (!this.#isSettled) this.fail(decodeError(body));
    return true;
  }

  fail(thrown: unknown): void {
    if (this.#isSettled) return;
    this.#settle(thrown instanceof Error ? thrown : AppError.from(thrown));
    this.#answer.reject(thrown);
  }

  lose(reason: string): void {
    this.fail(lostError(reason, this.method, this.#link.hasSent(this.#sequence)));
  }

  #succeed(body: unknown): void {
    this.#settle();
    this.#answer.resolve(body);
  }

  #settle(error?: Error): void {
    this.#isSettled = true;
    this.#stopWaiting?.();
    this.#talk.end(error);
  }

  #takeBack(thrown: unknown): void {
    if (this.#isSettled) return;
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
