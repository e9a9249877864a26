import type { HistoryCall } from '../ports/history.ts';
import type { PathChange } from '../ports/tree.ts';

export interface OpenCall {
  readonly id: string;
  readonly call: HistoryCall;
  /** Other calls that ran at any moment of this one. */
  readonly alongside: Set<HistoryCall>;
  readonly isPartial: boolean;
  /** The call reported changes under the same id before and continues: both parts are one undo step. */
  readonly isContinued: boolean;
  /** For a check that must not change files: all changes made meanwhile, whoever made them. */
  readonly watched?: PathChange[] | undefined;
}

export interface OpenCallOptions {
  readonly isPartial: boolean;
  readonly id?: string | undefined;
  readonly isWatched?: boolean | undefined;
}

export type OpenCalls = ReturnType<typeof createOpenCalls>;

/** The calls in progress. */
export function createOpenCalls() {
  const all = new Set<OpenCall>();
  return {
    add(call: HistoryCall, { isPartial, id, isWatched }: OpenCallOptions): OpenCall {
      const alongside = new Set([...all].map((other) => other.call));
      for (const other of all) other.alongside.add(call);
      const open: OpenCall = {
        ...{ id: id ?? crypto.randomUUID(), call, alongside, isPartial, isContinued: id !== undefined },
        ...(isWatched && { watched: [] }),
      };
      all.add(open);
      return open;
    },
    delete: (open: OpenCall) => all.delete(open),
    /** The call that gets a change for which there is no better evidence. */
    newest: () => [...all].at(-1),
    /** As `newest`, without checks, whose by-products belong to nobody. */
    newestWriter: () => [...all].findLast(({ call }) => call.byproducts !== 'all'),
    watching: () => [...all].flatMap(({ watched }) => (watched ? [watched] : [])),
    /** Returns the call in progress of this tool, for changes that the history makes itself. */
    of: (tool: string): HistoryCall =>
      [...all].find(({ call }) => call.tool === tool)?.call ?? { tool, session: '', title: '' },
  };
}
