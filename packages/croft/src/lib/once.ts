/** Starts the work on the first call and shares it with the others. A failure is not kept: the next call tries again. */
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
