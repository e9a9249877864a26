import type { Readable, Writable } from 'node:stream';
import type { AppError } from '@croft/protocol';

/**
 * One side of a link between a server and a runner. Either side may call the other.
 *
 * Everything that is sent within a call arrives exactly once and in order, even if the connection breaks and is made
 * again: code above this interface does not know of connections. When a link is lost for good, everything in flight
 * fails at once with `E_RUNNER_LOST`, which says whether the call was ever sent.
 *
 * The other side is hostile: params, answers and messages are parsed before they are used, and nothing it sends makes
 * memory grow beyond the windows of the open calls.
 */
export interface Peer {
  call(method: string, params: unknown, options: CallOptions): PendingCall;
  /**
   * Serves these methods from now on. A method can be served only once; calls of unknown methods fail with
   * `E_NOT_FOUND`.
   */
  serve(handlers: Readonly<Record<string, CallHandler>>): void;
  /** Resolves with the reason when the link is lost for good. */
  readonly lost: Promise<AppError>;
  /** Ends the link: the other side is told, and everything in flight fails. */
  close(reason: string): void;
}

export interface CallOptions {
  /** Aborting cancels the call: the handler's signal aborts, and `answer` rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Also sent to the other side, where the handler's signal aborts at the deadline. Without it, there is no limit. */
  readonly deadlineMs?: number | undefined;
}

/** Operations of both sides of an open call. Channels are numbered from 0 to 7; the method defines the use of each. */
export interface DuplexCall {
  /** Bytes that the other side writes to its `writable` of the same number. Destroying the stream discards the rest. */
  readable(channel: number): Readable;
  /** Writes at the pace of the reader: at most a window of bytes is in flight. */
  writable(channel: number): Writable;
  /**
   * Sends a small JSON message, in order with everything of the call that was already sent. Bytes that wait for their
   * reader do not delay it: a `kill` does not wait behind unread input.
   */
  sendMessage(message: unknown): void;
  /** Sets the one listener. Messages that came earlier are passed to it at once. */
  onMessage(listener: (message: unknown) => void): void;
}

/** A call that this side made. */
export interface PendingCall extends DuplexCall {
  /**
   * The handler's answer, which arrives after everything it wrote and sent. Rejects with an `AppError`, or with the
   * signal's reason.
   */
  readonly answer: Promise<unknown>;
}

/** A call that the other side made, as its handler sees it. */
export interface ServedCall extends DuplexCall {
  /** Aborts when the caller cancels the call, when its deadline passes, or when the link is lost. */
  readonly signal: AbortSignal;
}

/**
 * Returns JSON, or throws an `AppError`, which reaches the caller with its code, message and details. Its writables are
 * ended when it returns.
 */
export type CallHandler = (params: unknown, call: ServedCall) => Promise<unknown>;
