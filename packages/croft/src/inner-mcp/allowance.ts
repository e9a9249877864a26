const windowMs = 10_000;
const maxMessages = 2000;
const maxBytes = 16 * 1024 * 1024;

/** How much that nobody asked for is taken from one server: so many messages and bytes in each few seconds. */
export function createAllowance(now: () => number = performance.now.bind(performance)) {
  let [since, messages, bytes] = [now(), 0, 0];
  return {
    /** Whether there is room for it. */
    take(size: number): boolean {
      if (now() - since > windowMs) [since, messages, bytes] = [now(), 0, 0];
      messages += 1;
      bytes += size;
      return messages <= maxMessages && bytes <= maxBytes;
    },
  };
}
