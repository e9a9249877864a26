import { type AgentToolEvent, AppError } from '@croft/protocol';
import type { OutputForm, OutputPiece, OutputReceiver } from '../../core/calls/stream-output.ts';
import { toEventStream, toEventText } from './event-stream.ts';

interface FollowOptions<Answer> {
  readonly form: OutputForm;
  /** Runs the call. Its command waits while the client does not take the output. */
  run(onOutput: OutputReceiver, signal: AbortSignal): Promise<Answer>;
  toResult(answer: Answer): Extract<AgentToolEvent, { type: 'result' }>['result'];
  /** Whether the client still has access. */
  isStillAllowed(): Promise<boolean>;
  /** Ends when the client is gone. */
  readonly signal: AbortSignal;
}

/** Clients and proxies wait for the head of an answer for a minute at least. */
const quietMs = 30_000;

/**
 * Follows a call while it runs: the first output turns the answer into a stream of events, and so does half a minute
 * without any, so that the client waits for no head. A call that ends before that is answered as if nobody followed it,
 * with the status of its failure.
 */
export async function streamRunningCall<Answer>(options: FollowOptions<Answer>): Promise<Answer | Response> {
  const { form, signal, isStillAllowed } = options;
  const stopped = abortWith(signal);
  const feed = createCallFeed();
  const call = options.run({ form, receive: feed.receive }, stopped.signal);
  const quiet = Promise.withResolvers<typeof following>();
  const timer = setTimeout(() => quiet.resolve(following), quietMs);
  const first = await Promise.race([feed.started, call, quiet.promise]).finally(() => clearTimeout(timer));
  if (first !== following) return first;
  const answered = call.then((answer): AgentToolEvent => ({ type: 'result', result: options.toResult(answer) }));
  void answered.catch(toFailure).then(feed.close);
  return toEventStream({
    feed,
    isStillAllowed,
    onEnd() {
      stopped.abort();
      feed.release();
    },
    signal,
  });
}

const following = Symbol('following');

function toEvent(piece: OutputPiece): AgentToolEvent {
  if ('text' in piece) return { type: 'output', ...piece };
  const { stream, bytes, redacted } = piece;
  return {
    type: 'bytes',
    stream,
    base64: bytes.toString('base64'),
    ...(redacted.length > 0 && { redacted: [...redacted] }),
  };
}

/** One listener costs a third of `AbortSignal.any`. */
function abortWith(signal: AbortSignal): AbortController {
  const controller = new AbortController();
  const stop = () => controller.abort(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return controller;
}

function toFailure(thrown: unknown): AgentToolEvent {
  return { type: 'error', error: AppError.from(thrown).toJSON() };
}

/** Holds one piece of output until the client takes it. */
function createCallFeed() {
  const started = Promise.withResolvers<typeof following>();
  let waiting: { readonly event: AgentToolEvent; taken(): void }[] = [];
  let [isClosed, isReleased] = [false, false];
  let bell = Promise.withResolvers<void>();
  const put = (event: AgentToolEvent, taken: () => void) => {
    waiting.push({ event, taken });
    started.resolve(following);
    bell.resolve();
    bell = Promise.withResolvers();
  };

  return {
    started: started.promise,
    receive: (piece: OutputPiece): Promise<void> =>
      isReleased ? Promise.resolve() : new Promise((taken) => put(toEvent(piece), taken)),
    close(last: AgentToolEvent): void {
      isClosed = true;
      put(last, () => {});
    },
    /** Called when nobody reads the stream any more: the command no longer waits for a reader. */
    release(): void {
      isReleased = true;
      for (const { taken } of waiting) taken();
    },
    more: () => bell.promise,
    isOver: () => isClosed && waiting.length === 0,
    take(): string | undefined {
      const next = waiting;
      waiting = [];
      for (const { taken } of next) taken();
      return next.length === 0 ? undefined : next.map(({ event }) => toEventText(event)).join('');
    },
  };
}
