import type { Writable } from 'node:stream';

interface StdoutQueueOptions {
  readonly stdout: Writable;
  /** The client has more than `maxWaitingBytes` unread. A `drain` event of `stdout` says when that is over. */
  onFull(): void;
  /** All queued messages were written. */
  onFlushed(): void;
}

/** While the client has more unread bytes than this, nothing more is read from it. */
const maxWaitingBytes = 8 * 1024 * 1024;

/** Queues messages to the client. Messages that are ready at the same moment leave in one write. */
export function createStdoutQueue({ stdout, onFull, onFlushed }: StdoutQueueOptions) {
  let lines: string[] = [];
  const first = Promise.withResolvers<void>();

  return {
    add(message: unknown): void {
      if (lines.length === 0) process.nextTick(flush);
      lines.push(JSON.stringify(message));
    },
    flush,
    /** Resolves after the first write. */
    flushed: first.promise,
    isEmpty: () => lines.length === 0,
  };

  function flush(): void {
    if (lines.length === 0) return;
    const text = `${lines.join('\n')}\n`;
    lines = [];
    stdout.write(text);
    if (stdout.writableLength > maxWaitingBytes) onFull();
    onFlushed();
    first.resolve();
  }
}
