/**
 * Returns the result of `promise`, or that of `late` if `promise` takes longer than `ms`. Does not stop the work behind
 * `promise`.
 */
export function withDeadline<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  const { promise: answer, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    try {
      resolve(late());
    } catch (thrown) {
      reject(thrown);
    }
  }, ms);
  promise.then(resolve, reject).finally(() => clearTimeout(timer));
  return answer;
}
