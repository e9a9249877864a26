/** Shorter than what is done with the answer takes. */
const recentMs = 50;

/**
 * Finds things a moment old at most: however many ask at once, it is found once. What is not there, or cannot be found, is
 * not kept.
 */
export function createRecent<Value>(): (find: () => Value, key?: string) => Value {
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
