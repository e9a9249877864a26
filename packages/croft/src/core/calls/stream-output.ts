import { createControlStripper } from '../../lib/text/strip-control-sequences.ts';
import type { OutputObserver } from '../commands/run-command.ts';
import type { Secrets } from '../secrets/secrets.ts';

/** A part of what the command of a call prints, as its answer would show it: without secrets and control sequences. */
export interface OutputPiece {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

/** Receives the pieces. The command waits while the promise is pending, so a slow receiver needs no memory. */
export type OutputReceiver = (piece: OutputPiece) => Promise<void>;

interface StreamOptions {
  readonly secrets: Pick<Secrets, 'redactStream'>;
  /** The call has ended: its command waits for the receiver no longer. */
  readonly signal: AbortSignal;
}

/** Output that comes within this time is one piece. */
const gatherMs = 25;
const maxGatheredChars = 64 * 1024;

/**
 * Passes on the output of one call while it runs. `end` passes on what was held back because it could have been the
 * beginning of a secret; output that comes after it is ignored.
 */
export function streamOutput(receive: OutputReceiver, { secrets, signal }: StreamOptions) {
  const streams = { stdout: createTextStream(secrets), stderr: createTextStream(secrets) };
  const ended = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let received = Promise.resolve();

  const observe: OutputObserver = (stream, chunk) => {
    if (isOver) return;
    streams[stream].add(chunk);
    timer ??= setTimeout(send, gatherMs);
    if (streams[stream].gathered() >= maxGatheredChars) send();
    return received;
  };

  return {
    observe,
    end(): Promise<void> {
      send(({ end }) => end());
      isOver = true;
      return received;
    },
  };

  function send(take: (stream: TextStream) => string = ({ take: next }) => next()): void {
    clearTimeout(timer);
    timer = undefined;
    if (isOver) return;
    const texts = [take(streams.stdout), take(streams.stderr)];
    const pieces = (['stdout', 'stderr'] as const).map((stream, index) => ({ stream, text: texts[index] ?? '' }));
    for (const piece of pieces.filter(({ text }) => text !== ''))
      received = received.then(() => Promise.race([receive(piece), ended.promise]));
    // A receiver that is gone does not fail the call.
    received = received.catch(() => {});
  }
}

type TextStream = ReturnType<typeof createTextStream>;

/** Turns the bytes of one output into the text that is shown. */
function createTextStream({ redactStream }: Pick<Secrets, 'redactStream'>) {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const strip = createControlStripper();
  const redacted = redactStream();
  let gathered = '';
  const take = () => {
    const text = gathered;
    gathered = '';
    return text === '' ? '' : redacted.push(text);
  };
  return {
    add(chunk: Buffer): void {
      gathered += strip(decoder.decode(chunk, { stream: true }));
    },
    gathered: () => gathered.length,
    take,
    end: () => take() + redacted.push(strip(decoder.decode()) + strip.flush()) + redacted.end(),
  };
}
