import { createControlStripper } from '../../lib/text/strip-control-sequences.ts';
import type { OutputObserver } from '../commands/run-command.ts';
import type { Secrets } from '../secrets/secrets.ts';

type StreamName = 'stdout' | 'stderr';

/**
 * A part of what the command of a call prints, without secrets: as text, without control sequences, as the answer of the
 * call shows it; or as bytes, with the names of the secrets whose marks are among them.
 */
export type OutputPiece =
  | { readonly stream: StreamName; readonly text: string }
  | { readonly stream: StreamName; readonly bytes: Buffer; readonly redacted: readonly string[] };

/** `color`: bytes too, of programs that are told that colours are wanted. */
export const outputForms = ['text', 'bytes', 'color'] as const;
export type OutputForm = (typeof outputForms)[number];

export interface OutputReceiver {
  readonly form: OutputForm;
  /** The command waits while the promise is pending, so a slow receiver needs no memory. */
  receive(piece: OutputPiece): Promise<void>;
}

interface StreamOptions {
  readonly secrets: Pick<Secrets, 'redactStream' | 'redactByteStream'>;
  /** The call has ended: its command waits for the receiver no longer. */
  readonly signal: AbortSignal;
}

/** Output that comes within this time is one piece. */
const gatherMs = 25;
const maxGathered = 64 * 1024;
const streamNames = ['stdout', 'stderr'] as const;

/** Programs print no colours into a pipe. Most print them with one of these variables. */
const colorEnvironment = { FORCE_COLOR: '1', CLICOLOR_FORCE: '1', PY_COLORS: '1', CARGO_TERM_COLOR: 'always' };

/**
 * Passes on the output of one call while it runs. `end` passes on what was held back because it could have been the
 * beginning of a secret; output that comes after it is ignored.
 */
export function streamOutput({ form, receive }: OutputReceiver, { secrets, signal }: StreamOptions) {
  const create = form === 'text' ? createTextStream : createByteStream;
  const streams = { stdout: create('stdout', secrets), stderr: create('stderr', secrets) };
  const ended = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let received = Promise.resolve();

  const observe: OutputObserver = (stream, chunk) => {
    if (isOver) return;
    streams[stream].add(chunk);
    timer ??= setTimeout(send, gatherMs);
    if (streams[stream].gathered() >= maxGathered) send();
    return received;
  };

  return {
    observe,
    environment: form === 'color' ? colorEnvironment : undefined,
    end(): Promise<void> {
      send(({ end }) => end());
      isOver = true;
      return received;
    },
  };

  function send(take: (stream: PieceStream) => OutputPiece | undefined = ({ take: next }) => next()): void {
    clearTimeout(timer);
    timer = undefined;
    if (isOver) return;
    for (const piece of streamNames.map((name) => take(streams[name])))
      if (piece) received = received.then(() => Promise.race([receive(piece), ended.promise]));
    // A receiver that is gone does not fail the call.
    received = received.catch(() => {});
  }
}

interface PieceStream {
  add(chunk: Buffer): void;
  /** How much would be in the next piece. */
  gathered(): number;
  take(): OutputPiece | undefined;
  /** The last piece: no more chunks come. */
  end(): OutputPiece | undefined;
}

/** Turns the bytes of one output into the text that is shown. */
function createTextStream(stream: StreamName, { redactStream }: StreamOptions['secrets']): PieceStream {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const strip = createControlStripper();
  const redacted = redactStream();
  let gathered = '';
  const takeText = () => {
    const text = gathered;
    gathered = '';
    return text === '' ? '' : redacted.push(text);
  };
  const toPiece = (text: string) => (text === '' ? undefined : { stream, text });
  return {
    add(chunk) {
      gathered += strip(decoder.decode(chunk, { stream: true }));
    },
    gathered: () => gathered.length,
    take: () => toPiece(takeText()),
    end: () => toPiece(takeText() + redacted.push(strip(decoder.decode()) + strip.flush()) + redacted.end()),
  };
}

/** Passes on the bytes of one output, with marks for secrets. */
function createByteStream(stream: StreamName, { redactByteStream }: StreamOptions['secrets']): PieceStream {
  const redacted = redactByteStream();
  let chunks: Buffer[] = [];
  let gathered = 0;
  const takeBytes = () => {
    const bytes = Buffer.concat(chunks);
    [chunks, gathered] = [[], 0];
    return redacted.push(bytes);
  };
  const toPiece = (parts: readonly ReturnType<typeof takeBytes>[]) => {
    const bytes = Buffer.concat(parts.map((part) => part.bytes));
    return bytes.length === 0 ? undefined : { stream, bytes, redacted: parts.flatMap(({ names }) => names) };
  };
  return {
    add(chunk) {
      chunks.push(chunk);
      gathered += chunk.length;
    },
    gathered: () => gathered,
    take: () => toPiece([takeBytes()]),
    end: () => toPiece([takeBytes(), redacted.end()]),
  };
}
