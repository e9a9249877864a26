import type { Readable, Writable } from 'node:stream';
import type { AppError } from '@croft/protocol';

/**
 * One side of a link between a server and a runner. Either side may call the other.
 *
 * What one side sends within a call arrives once and in order, also when the cable is cut and mended meanwhile: nobody
 * above this knows of connections. When a link is lost for good, everything in flight fails at once with
 * `E_RUNNER_LOST`, which says whether the call was ever sent.
 *
 * The other side is hostile: params, answers and messages are parsed before they are used, and nothing it sends makes
 * memory grow beyond the windows of the calls that are open.
 */
export interface Peer {
  call(method: string, params: unknown, options: CallOptions): Calling;
  /** From now on. A method is served once; what nobody serves is answered with `E_NOT_FOUND`. */
  serve(handlers: Readonly<Record<string, Handler>>): void;
  /** Resolves, with the reason, when the link is lost for good. */
  readonly lost: Promise<AppError>;
  /** Ends it: the other side is told, and everything in flight fails. */
  close(reason: string): void;
}

export interface CallOptions {
  /** Aborting takes the call back: the handler's signal aborts, and `answer` rejects with what the signal says. */
  readonly signal?: AbortSignal | undefined;
  /** Carried to the other side, where the handler's signal aborts then too. Left out: it may take as long as it likes. */
  readonly deadlineMs?: number | undefined;
}

/** What both sides of a call can do while it is open. Channels are numbered by who agrees on the method, from 0 to 7. */
export interface Conversation {
  /** Bytes that the other side writes to its `writable` of the same number. One that is destroyed lets the rest go by. */
  readable(channel: number): Readable;
  /** Waits for its reader: no more than a window of bytes is on its way. */
  writable(channel: number): Writable;
  /**
   * A small message (JSON), in order with everything of the call that is on its way. Bytes that still wait for their
   * reader do not hold it up: one that says `kill` is not stuck behind input that nobody takes.
   */
  tell(message: unknown): void;
  /** One listener. What came before there was one is handed to it at once. */
  onTold(listener: (message: unknown) => void): void;
}

/** A call at the other side. */
export interface Calling extends Conversation {
  /** What the handler answered, after everything it wrote and told. Rejects with an `AppError`, or what the signal says. */
  readonly answer: Promise<unknown>;
}

/** A call of the other side. */
export interface Incoming extends Conversation {
  /** Aborts when the caller takes it back, its deadline is over, or the link is lost. */
  readonly signal: AbortSignal;
}

/** Answers with JSON, or throws an `AppError`, which the caller gets as it is. Its writables are ended when it returns. */
export type Handler = (params: unknown, call: Incoming) => Promise<unknown>;
