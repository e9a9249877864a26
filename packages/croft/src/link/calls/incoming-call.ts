import { AppError } from '@croft/protocol';
import { type FrameType, frameTypes, type LinkFrame } from '../transport/frames.ts';
import type { Link } from '../transport/link.ts';
import { CallChannels } from './call-channels.ts';
import { encodeError, lostError } from './error-codec.ts';
import { encodeJson } from './json-codec.ts';
import { frameSenderOf } from './outbound-channel.ts';
import type { CallHandler } from './peer.ts';

export interface CallRequest {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
  readonly deadlineMs: number | undefined;
}

/** Shared by all calls: most have no open stream that this error would end. */
const answered = new AppError('E_CANCELLED', 'the call was answered, and its streams are over');

/** A call that the other side made. It is answered exactly once, whatever happens to it. */
export class IncomingCall {
  readonly #request: CallRequest;
  readonly #link: Link;
  readonly #onAnswered: () => void;
  readonly #channels: CallChannels;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  #isAnswered = false;

  constructor(link: Link, request: CallRequest, onAnswered: () => void) {
    const { id, method, deadlineMs } = request;
    this.#request = request;
    this.#link = link;
    this.#onAnswered = onAnswered;
    this.#channels = new CallChannels(frameSenderOf(link, id), (error) => this.#abort(error));
    if (deadlineMs === undefined) return;
    const overdue = () => this.#abort(new AppError('E_TIMEOUT', `${method} did not end within ${deadlineMs} ms`));
    this.#timer = setTimeout(overdue, deadlineMs).unref();
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  async run(handler: CallHandler): Promise<void> {
    const { signal } = this.#controller;
    const { method, params } = this.#request;
    try {
      const value = await handler(params, { ...this.#channels.duplex, signal });
      const rest = this.#channels.finishWriting();
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

  receive(frame: LinkFrame): void {
    if (this.#isAnswered || this.#controller.signal.aborted) return;
    if (frame.type !== frameTypes.cancel) this.#channels.receive(frame);
    else this.#abort(new AppError('E_CANCELLED', `${this.#request.method} was cancelled`));
  }

  lose(reason: string): void {
    this.#abort(lostError(reason, this.#request.method, true));
  }

  #answer(type: FrameType, body: Buffer): void {
    this.#isAnswered = true;
    clearTimeout(this.#timer);
    this.#onAnswered();
    this.#link.send(type, this.#request.id, 0, body);
    this.#channels.end(answered);
  }

  #abort(reason: AppError): void {
    if (this.#isAnswered || this.#controller.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#channels.end(reason);
    this.#controller.abort(reason);
  }
}
