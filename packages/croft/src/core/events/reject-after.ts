import { AppError } from '@croft/protocol';

/**
 * Throws `E_TIMEOUT` when `work` takes longer than `ms`. The work itself continues, and its later errors are ignored.
 */
export async function rejectAfter<T>(ms: number, work: Promise<T> | undefined): Promise<T | undefined> {
  if (!work) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(new AppError('E_TIMEOUT', `no answer within ${ms / 1000} s`)), ms);
  const end = (answer: () => void) => {
    clearTimeout(timer);
    answer();
  };
  work.then(
    (result) => end(() => resolve(result)),
    (thrown) => end(() => reject(thrown)),
  );
  return promise;
}
