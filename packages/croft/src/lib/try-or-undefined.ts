/** Returns `undefined` instead of throwing. For reads whose failure means that there is nothing to read. */
export function tryOrUndefined<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
