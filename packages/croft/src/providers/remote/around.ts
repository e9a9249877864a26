import type { CallAround, Workspace } from '../../core/workspace.ts';
import { AroundState, aroundCall } from '../../link/methods/workspace.ts';
import type { Asked, Asking } from './asking.ts';
import { nonsense } from './nonsense.ts';

type Around = NonNullable<Workspace['around']>;

export interface AroundOptions {
  /** Others change it too: what they did is taken in before something is read. */
  readonly isShared: boolean;
}

/** What stands around calls is at the runner: it takes in, remembers and stores, which may take long. */
export function createRemoteAround(asking: Asking, place: string, { isShared }: AroundOptions): Around {
  const begin = ({ tool, access, session, title, signal }: CallAround, until?: AbortSignal) =>
    asking.begin(aroundCall, { place, call: { tool, access, session, title } }, { signal: until ?? signal });

  return async (call, work) => {
    if (call.access !== 'read') return change(call, work);
    if (isShared) await begin(call).answer;
    return work();
  };

  async function change<T>(call: CallAround, work: () => Promise<T>): Promise<T> {
    const giveUp = new AbortController();
    const asked = begin(call, giveUp.signal);
    await begun(asked, call.signal, giveUp);
    try {
      const result = await work();
      asked.tell({ order: 'done' });
      await asked.answer;
      return result;
    } catch (thrown) {
      // What it did before it failed counts, whether or not its caller still waits.
      asked.tell({ order: 'failed' });
      await asked.answer.catch(() => {});
      throw thrown;
    }
  }
}

/** Until then its caller may take it back, and nothing has happened. From then on it is stored. */
async function begun(asked: Asked<null>, signal: AbortSignal, giveUp: AbortController): Promise<void> {
  const started = Promise.withResolvers<void>();
  asked.listen(AroundState, () => started.resolve());
  asked.answer.then(() => started.reject(nonsense(asked.method, 'it ended before it began')), started.reject);
  const leave = () => giveUp.abort(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  await started.promise.finally(() => signal.removeEventListener('abort', leave));
}
