import type { HistoryCall } from './history.ts';

export interface OpenCall {
  readonly id: string;
  readonly call: HistoryCall;
  /** Others that were under way at some moment of it. */
  readonly alongside: Set<HistoryCall>;
  readonly isPartial: boolean;
}

export type OpenCalls = ReturnType<typeof createOpenCalls>;

/** The calls that are under way. */
export function createOpenCalls() {
  const all = new Set<OpenCall>();
  return {
    add(call: HistoryCall, isPartial: boolean, id: string = crypto.randomUUID()): OpenCall {
      const alongside = new Set([...all].map((other) => other.call));
      for (const other of all) other.alongside.add(call);
      const open = { id, call, alongside, isPartial };
      all.add(open);
      return open;
    },
    delete: (open: OpenCall) => all.delete(open),
    /** Whose a change is when there is no other way to tell. */
    newest: () => [...all].at(-1),
    /** The call of this tool, for what it does itself. */
    of: (tool: string): HistoryCall =>
      [...all].find(({ call }) => call.tool === tool)?.call ?? { tool, session: '', title: '' },
  };
}
