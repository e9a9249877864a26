import { useState } from 'preact/hooks';
import { type RequestError, toRequestError } from '../server/request.ts';

/** Something that a person starts and that may fail. While it runs, it is not started again. */
export function useAction<Args extends readonly unknown[]>(work: (...args: Args) => Promise<void>) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<RequestError | undefined>(undefined);
  const run = async (...args: Args): Promise<void> => {
    if (isRunning) return;
    setRunning(true);
    setError(undefined);
    try {
      await work(...args);
    } catch (thrown) {
      setError(toRequestError(thrown));
    } finally {
      setRunning(false);
    }
  };
  return { run: (...args: Args) => void run(...args), isRunning, error, clear: () => setError(undefined) };
}
