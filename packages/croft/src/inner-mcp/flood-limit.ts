const windowMs = 10_000;
const maxMessages = 2000;
const maxBytes = 16 * 1024 * 1024;

/**
 * Limits the unrequested messages that one server may send: a number of messages and of bytes in each window of 10 s.
 */
export function createFloodLimit(now: () => number = performance.now.bind(performance)) {
  let [since, messages, bytes] = [now(), 0, 0];
  return {
    /** Counts a message of `size` bytes. Returns false when the limit of the current window is exceeded. */
    take(size: number): boolean {
      if (now() - since > windowMs) [since, messages, bytes] = [now(), 0, 0];
      messages += 1;
      bytes += size;
      return messages <= maxMessages && bytes <= maxBytes;
    },
  };
}
