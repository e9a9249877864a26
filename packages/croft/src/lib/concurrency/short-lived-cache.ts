/** Milliseconds for which an answer is reused: less than the work that follows on it takes. */
const recentMs = 50;

/**
 * Caches answers for a moment, so that many simultaneous callers cause one lookup per key. `undefined` and failures are
 * not cached.
 */
export function createShortLivedCache<Value>(): (find: () => Value, key?: string) => Value {
  const found = new Map<string, { readonly at: number; readonly value: Value }>();
  return (find, key = '') => {
    const at = performance.now();
    const last = found.get(key);
    if (last && at - last.at < recentMs) return last.value;
    found.delete(key);
    const value = find();
    if (value !== undefined) found.set(key, { at, value });
    return value;
  };
}
