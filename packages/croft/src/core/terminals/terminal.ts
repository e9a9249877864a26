import type { Writable } from 'node:stream';
import { AppError, type TerminalServerMessage } from '@croft/protocol';
import type { RunningProgram, TerminalSize } from '../commands/sandbox.ts';
import { createScrollback } from './scrollback.ts';

/** A connection that shows a terminal. */
export interface TerminalViewer {
  show(bytes: Buffer): void;
  tell(message: TerminalServerMessage): void;
  /** Called when another viewer takes over, or the terminal has ended. */
  leave(): void;
}

interface TerminalOptions {
  readonly id: string;
  readonly running: RunningProgram;
  /** A terminal without a viewer ends after this time. */
  readonly graceMs: number;
}

/** Why a terminal closed, and how its shell ended, if known. */
export interface TerminalEnd {
  readonly reason: string;
  readonly code?: number | null | undefined;
  readonly signal?: string | null | undefined;
}

export type SandboxTerminal = ReturnType<typeof createSandboxTerminal>;

/** Printed bytes that no viewer has confirmed. Above this the program is paused. */
const windowBytes = 512 * 1024;
/** Confirmed bytes that are kept for a new viewer. */
const scrollbackBytes = 128 * 1024;

/** Typed bytes that the program has not read. */
const maxTypedBytes = 8 * 1024 * 1024;

/** A program with a terminal that outlives the connections of its viewers. No output is lost meanwhile. */
export function createSandboxTerminal({ id, running, graceMs }: TerminalOptions) {
  let viewer: TerminalViewer | undefined;
  let timer: NodeJS.Timeout | undefined;
  let end: TerminalServerMessage | undefined;
  let reason: string | undefined;
  const printed = bufferOutput(running, (bytes) => viewer?.show(bytes));
  const ended = running.exit.then(
    ({ code, signal }): TerminalEnd => {
      finish({ type: 'exit', code, signal });
      return { reason: reason ?? 'the shell ended', code, signal };
    },
    (thrown): TerminalEnd => {
      const error = AppError.from(thrown);
      finish({ type: 'error', code: error.code, message: error.message });
      return { reason: reason ?? error.message };
    },
  );
  waitForViewer();

  return {
    id,
    ended,
    attach,
    confirm: printed.confirm,
    /** Called by the viewer that disconnects. */
    detach(from: TerminalViewer): void {
      if (viewer !== from) return;
      viewer = undefined;
      waitForViewer();
    },
    type: (bytes: Buffer) => typeInto(running.stdin, bytes),
    resize: (size: TerminalSize) => running.resize(size),
    end: kill,
  };

  /** Ends the program. The first reason counts. */
  function kill(why: string): void {
    reason ??= why;
    running.kill();
  }

  /** Attaches a viewer. It receives the output from offset `from` on, or everything that is still stored. */
  function attach(next: TerminalViewer, from = printed.first()): void {
    const missed = printed.from(from);
    viewer?.leave();
    clearTimeout(timer);
    viewer = next;
    next.tell({ type: 'attached', terminal: id, offset: from, answered: printed.confirmed() });
    if (missed.length > 0) next.show(missed);
    printed.confirm(from);
    if (end) finish(end);
  }

  function waitForViewer(): void {
    timer = setTimeout(kill, graceMs, `nobody was attached for ${graceMs / 1000} s`);
    timer.unref();
  }

  function finish(how: TerminalServerMessage): void {
    end = how;
    viewer?.tell(how);
    clearTimeout(timer);
    viewer?.leave();
    viewer = undefined;
  }
}

/** Stores unconfirmed output, and pauses the program when there is too much. */
function bufferOutput({ stdout }: RunningProgram, onPrinted: (bytes: Buffer) => void) {
  const scrollback = createScrollback();
  let confirmed = 0;
  const isTooMuch = () => scrollback.end() - confirmed > windowBytes;
  stdout.on('data', (bytes: Buffer) => {
    scrollback.push(bytes);
    onPrinted(bytes);
    if (isTooMuch()) stdout.pause();
  });
  return {
    first: scrollback.first,
    confirmed: () => confirmed,
    /** Throws `E_RANGE` for bytes that were dropped, or not printed yet. */
    from(offset: number): Buffer {
      if (offset >= scrollback.first() && offset <= scrollback.end()) return scrollback.from(offset);
      throw new AppError('E_RANGE', `this terminal has the bytes ${scrollback.first()} to ${scrollback.end()}`, {
        hint: `Attach from a byte in that range.`,
      });
    },
    confirm(offset: number): void {
      confirmed = Math.min(Math.max(confirmed, offset), scrollback.end());
      scrollback.dropBefore(confirmed - scrollbackBytes);
      if (!isTooMuch()) stdout.resume();
    },
  };
}

/** Throws `E_TOO_LARGE` when the program has too much unread input. */
function typeInto(stdin: Writable, bytes: Buffer): void {
  if (stdin.writableLength + bytes.length > maxTypedBytes)
    throw new AppError('E_TOO_LARGE', `the program has not read ${stdin.writableLength} bytes that were typed before`, {
      hint: 'These bytes were dropped. Wait until the program reads its input, or end it with Ctrl-C.',
    });
  stdin.write(bytes);
}
