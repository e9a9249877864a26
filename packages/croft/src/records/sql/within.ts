/** What `promise` comes to, or what `late` throws or answers when it takes too long. It is not stopped by that. */
export async function within<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  const { promise: tooLate, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    try {
      resolve(late());
    } catch (thrown) {
      reject(thrown);
    }
  }, ms);
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
