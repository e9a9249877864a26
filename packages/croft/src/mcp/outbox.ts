import type { Writable } from 'node:stream';

export interface OutboxOptions {
  readonly stdout: Writable;
  /** More than `maxWaitingBytes` wait to be read; `drain` tells when they do not. */
  onFull(): void;
  /** What there was has left us. */
  onFlushed(): void;
}

/** With more than this waiting to be read by the client, no more is taken from it. */
const maxWaitingBytes = 8 * 1024 * 1024;

/** Messages on their way out: those that are ready together leave in one write. */
export function createOutbox({ stdout, onFull, onFlushed }: OutboxOptions) {
  let lines: string[] = [];

  return {
    add(message: unknown): void {
      if (lines.length === 0) process.nextTick(flush);
      lines.push(JSON.stringify(message));
    },
    flush,
    isEmpty: () => lines.length === 0,
  };

  function flush(): void {
    if (lines.length === 0) return;
    const text = `${lines.join('\n')}\n`;
    lines = [];
    stdout.write(text);
    if (stdout.writableLength > maxWaitingBytes) onFull();
    onFlushed();
  }
}
