import { AppError } from '@croft/protocol';
import { encodeError, lostError } from './errors.ts';
import { type Frame, type FrameType, frameTypes } from './frames.ts';
import { encodeJson } from './json.ts';
import type { Link } from './link.ts';
import { roadOf } from './outbound.ts';
import type { Handler } from './peer.ts';
import { Talk } from './talk.ts';

export interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
  readonly deadlineMs: number | undefined;
}

/** One for all: most calls have no stream that would break with it. */
const answered = new AppError('E_CANCELLED', 'the call was answered, and its streams are over');

/** A call of the other side. It is answered once, whatever happens to it. */
export class IncomingCall {
  readonly #request: Request;
  readonly #link: Link;
  readonly #onAnswered: () => void;
  readonly #talk: Talk;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;

  constructor(link: Link, request: Request, onAnswered: () => void) {
    const { id, method, deadlineMs } = request;
    this.#request = request;
    this.#link = link;
    this.#onAnswered = onAnswered;
    this.#talk = new Talk(roadOf(link, id), (error) => this.#abort(error));
    if (deadlineMs === undefined) return;
    const overdue = () => this.#abort(new AppError('E_TIMEOUT', `${method} did not end within ${deadlineMs} ms`));
    this.#timer = setTimeout(overdue, deadlineMs).unref();
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  async run(handler: Handler): Promise<void> {
    const { signal } = this.#controller;
    const { method, params } = this.#request;
    try {
      const value = await handler(params, { ...this.#talk.conversation, signal });
      const rest = this.#talk.finishWriting();
      if (rest) await rest;
      signal.throwIfAborted();
      this.#answer(frameTypes.answer, encodeJson(value, `the contents of the answer to ${method}`));
    } catch (thrown) {
      this.fail(signal.aborted && !AppError.is(thrown) ? signal.reason : thrown);
    }
  }

  fail(thrown: unknown): void {
    this.#answer(frameTypes.fail, encodeError(thrown));
  }

  receive(frame: Frame): void {
    if (this.#isAnswered || this.#controller.signal.aborted) return;
    if (frame.type !== frameTypes.cancel) this.#talk.receive(frame);
    else this.#abort(new AppError('E_CANCELLED', `${this.#request.method} was taken back`));
  }

  lose(reason: string): void {
    this.#abort(lostError(reason, this.#request.method, true));
  }

  #answer(type: FrameType, body: Buffer): void {
    this.#isAnswered = true;
    clearTimeout(this.#timer);
    this.#onAnswered();
    this.#link.send(type, this.#request.id, 0, body);
    this.#talk.end(answered);
  }

  #abort(reason: AppError): void {
    if (this.#isAnswered || this.#controller.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#talk.end(reason);
    this.#controller.abort(reason);
  }
}
