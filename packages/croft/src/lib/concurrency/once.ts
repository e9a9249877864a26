/**
 * Runs `work` on the first call and gives all later calls the same promise. After a failure the next call runs `work`
 * again.
 */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= work().catch((thrown) => {
      started = undefined;
      throw thrown;
    });
    return started;
  };
}
