import type { Writable } from 'node:stream';
import { AppError, type TerminalTold } from '@croft/protocol';
import type { Running, TerminalSize } from '../commands/sandbox.ts';
import { createScrollback } from './scrollback.ts';

/** Whoever looks at a terminal. */
export interface Viewer {
  show(bytes: Buffer): void;
  tell(message: TerminalTold): void;
  /** Somebody else looks at it now, or it is over. */
  leave(): void;
}

export interface TerminalOptions {
  readonly id: string;
  readonly running: Running;
  /** For so long nobody may look at it before it ends. */
  readonly graceMs: number;
}

export type Terminal = ReturnType<typeof createTerminal>;

/** Bytes that were printed and that no viewer has confirmed: from here on the program waits. */
const windowBytes = 512 * 1024;
/** Kept of what was confirmed, for who comes anew. */
const keptBytes = 128 * 1024;

/** Typed, and not read by the program. */
const maxTypedBytes = 8 * 1024 * 1024;

/** A program with a terminal that outlives the connection of who looks at it. Nothing it prints is lost meanwhile. */
export function createTerminal({ id, running, graceMs }: TerminalOptions) {
  let viewer: Viewer | undefined;
  let timer: NodeJS.Timeout | undefined;
  let end: TerminalTold | undefined;
  const printed = keepPrinted(running, (bytes) => viewer?.show(bytes));
  const ended = running.exit.then(
    ({ code, signal }) => finish({ type: 'exit', code, signal }),
    (thrown) => finish(toTold(AppError.from(thrown))),
  );
  waitForViewer();

  return {
    id,
    ended,
    attach,
    confirm: printed.confirm,
    /** By the one who looked. */
    detach(from: Viewer): void {
      if (viewer !== from) return;
      viewer = undefined;
      waitForViewer();
    },
    type: (bytes: Buffer) => typeInto(running.stdin, bytes),
    resize: (size: TerminalSize) => running.resize(size),
    end: () => running.kill(),
  };

  /** From the byte it has not got yet, or from what is kept. */
  function attach(next: Viewer, from = printed.first()): void {
    const missed = printed.from(from);
    viewer?.leave();
    clearTimeout(timer);
    viewer = next;
    next.tell({ type: 'attached', terminal: id, offset: from });
    if (missed.length > 0) next.show(missed);
    printed.confirm(from);
    if (end) finish(end);
  }

  function waitForViewer(): void {
    timer = setTimeout(() => running.kill(), graceMs);
    timer.unref();
  }

  function finish(how: TerminalTold): void {
    end = how;
    viewer?.tell(how);
    clearTimeout(timer);
    viewer?.leave();
    viewer = undefined;
  }
}

/** What a program printed and nobody has confirmed. It waits when that is too much. */
function keepPrinted({ stdout }: Running, onPrinted: (bytes: Buffer) => void) {
  const kept = createScrollback();
  let confirmed = 0;
  const isTooMuch = () => kept.end() - confirmed > windowBytes;
  stdout.on('data', (bytes: Buffer) => {
    kept.push(bytes);
    onPrinted(bytes);
    if (isTooMuch()) stdout.pause();
  });
  return {
    first: kept.first,
    /** Throws `E_RANGE` for what is not there any more, or not yet. */
    from(offset: number): Buffer {
      if (offset >= kept.first() && offset <= kept.end()) return kept.from(offset);
      throw new AppError('E_RANGE', `of this terminal the bytes ${kept.first()} to ${kept.end()} are there`);
    },
    confirm(offset: number): void {
      confirmed = Math.min(Math.max(confirmed, offset), kept.end());
      kept.dropBefore(confirmed - keptBytes);
      if (!isTooMuch()) stdout.resume();
    },
  };
}

/** Throws `E_TOO_LARGE` for more than a program that does not read its input can be kept waiting with. */
function typeInto(stdin: Writable, bytes: Buffer): void {
  if (stdin.writableLength + bytes.length > maxTypedBytes)
    throw new AppError('E_TOO_LARGE', `the program has not read ${stdin.writableLength} bytes that were typed before`);
  stdin.write(bytes);
}

function toTold({ code, message }: AppError): TerminalTold {
  return { type: 'error', code, message };
}
