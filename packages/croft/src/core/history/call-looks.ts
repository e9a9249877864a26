import type { FirstRead } from './first-read.ts';
import type { HistoryCall } from './history.ts';
import type { OpenCall, OpenCalls } from './open-calls.ts';
import { createSharedLook } from './shared-look.ts';

export interface CallLooksOptions {
  exclusively(work: () => Promise<void>): Promise<void>;
  /** Looks, and gives what has changed to whose it is. */
  settle(owner: OpenCall | undefined): Promise<void>;
  readonly calls: OpenCalls;
  readonly first: Pick<FirstRead, 'hasRead'>;
  isRead(): Promise<boolean>;
}

/** The look before a call and the one after it. Those who wait for one share it. */
export function createCallLooks({ exclusively, settle, calls, first, isRead }: CallLooksOptions) {
  const shareLook = createSharedLook<OpenCall | undefined>({ exclusively, look: settle });
  return {
    async begin(call: HistoryCall, id?: string): Promise<OpenCall> {
      const isPartial = !(await isRead());
      const { promise, resolve } = Promise.withResolvers<OpenCall>();
      const pass = () => resolve(calls.add(call, isPartial, id));
      await shareLook({ needsLook: () => !isPartial, owner: calls.newest, pass });
      return promise;
    },
    end: (open: OpenCall): Promise<void> =>
      shareLook({ needsLook: first.hasRead, owner: () => open, pass: () => calls.delete(open) }),
  };
}
