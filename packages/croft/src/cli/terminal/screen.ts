import type { ReadStream, WriteStream } from 'node:tty';
import type { Terminal } from '../command.ts';

export type Screen = ReturnType<typeof openScreen>;

const usual = { rows: 24, columns: 80 };

/** The terminal of the person, every key of which is handed on. Where there is none, input and output as they are. */
export function openScreen({ stdin, stdout }: Terminal) {
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
        // Whoever listens next gets what is typed meanwhile.
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
