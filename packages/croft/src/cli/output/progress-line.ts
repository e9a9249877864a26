import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** One line of the terminal that is overwritten with the progress of a command. */
export interface ProgressLine extends Disposable {
  show(text: string): void;
}

const firstMs = 300;
const betweenMs = 100;

/** Shows progress on a terminal only, and only of work that takes longer than 300 ms. */
export function openProgressLine({ stderr }: { readonly stderr: Writable }): ProgressLine {
  const window = stderr as Partial<WriteStream>;
  if (window.isTTY !== true) return { show: () => {}, [Symbol.dispose]: () => {} };
  let [due, isShown] = [Date.now() + firstMs, false];
  return {
    show(text) {
      if (Date.now() < due) return;
      [due, isShown] = [Date.now() + betweenMs, true];
      stderr.write(`\r\x1b[K${text.slice(0, (window.columns ?? 80) - 1)}`);
    },
    [Symbol.dispose]() {
      if (isShown) stderr.write('\r\x1b[K');
    },
  };
}
