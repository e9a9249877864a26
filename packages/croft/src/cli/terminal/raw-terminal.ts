import type { ReadStream, WriteStream } from 'node:tty';
import type { CommandContext } from '../command.ts';

export type RawTerminal = ReturnType<typeof openRawTerminal>;

const usual = { rows: 24, columns: 80 };

/** The person's terminal in raw mode, so that every key is passed on. Without a terminal, plain input and output. */
export function openRawTerminal({ stdin, stdout }: CommandContext) {
  const keys = stdin as Partial<ReadStream>;
  const window = stdout as Partial<WriteStream>;
  keys.setRawMode?.(true);
  return {
    size: () => ({ rows: window.rows ?? usual.rows, columns: window.columns ?? usual.columns }),
    show: (bytes: Uint8Array) => void stdout.write(bytes),
    onKeys(listener: (bytes: Buffer) => void): () => void {
      stdin.on('data', listener);
      stdin.resume();
      return () => {
        stdin.off('data', listener);
        // Keys typed in the meantime stay in the input for the next listener.
        stdin.pause();
      };
    },
    onEnd(listener: () => void): () => void {
      if (keys.readableEnded) listener();
      else stdin.once('end', listener);
      return () => void stdin.off('end', listener);
    },
    onResize(listener: () => void): () => void {
      stdout.on('resize', listener);
      return () => void stdout.off('resize', listener);
    },
    [Symbol.dispose]() {
      keys.setRawMode?.(false);
      stdin.pause();
    },
  };
}
