import type { CheckedWork, HistoryCall } from '../ports/history.ts';
import { findAltered } from './byproducts-of-checks.ts';
import type { FirstRead } from './first-read.ts';
import type { OpenCall, OpenCallOptions, OpenCalls } from './open-calls.ts';
import { createSharedCapture } from './shared-capture.ts';

interface CallCapturesOptions {
  exclusively(work: () => Promise<void>): Promise<void>;
  /**
   * Captures the tree and attributes the changes to their calls. Returns `undefined` if the workspace or its history
   * cannot be read.
   */
  attribute(owner: OpenCall | undefined): Promise<true | undefined>;
  readonly calls: OpenCalls;
  readonly first: Pick<FirstRead, 'hasRead'>;
  isRead(): Promise<boolean>;
}

/** Captures the tree before and after each call. Calls that wait for a capture share one. */
export function createCallCaptures({ exclusively, attribute, calls, first, isRead }: CallCapturesOptions) {
  const shareCapture = createSharedCapture<OpenCall | undefined>({ exclusively, capture: attribute });

  async function begin(call: HistoryCall, options: Omit<OpenCallOptions, 'isPartial'> = {}): Promise<OpenCall> {
    const isPartial = !(await isRead());
    const { promise, resolve } = Promise.withResolvers<OpenCall>();
    const pass = () => resolve(calls.add(call, { ...options, isPartial }));
    await shareCapture({ needsCapture: () => !isPartial, owner: calls.newest, proceed: pass });
    return promise;
  }

  /** Returns whether the workspace was captured. */
  async function end(open: OpenCall): Promise<boolean> {
    let hasCaptured = false;
    const pass = (isSeen: boolean) => {
      calls.delete(open);
      hasCaptured = isSeen;
    };
    await shareCapture({ needsCapture: first.hasRead, owner: () => open, proceed: pass });
    return hasCaptured;
  }

  async function recordCheck<T>(call: HistoryCall, work: () => Promise<T>): Promise<CheckedWork<T>> {
    const open = await begin({ ...call, byproducts: 'all' }, { isWatched: true });
    let isSeen = false;
    const result = await work().finally(async () => {
      isSeen = await end(open);
    });
    const altered = findAltered(open.watched ?? []);
    if (open.isPartial) return { result, altered, unverified: 'unread' };
    return isSeen ? { result, altered } : { result, altered, unverified: 'unreadable' };
  }

  return { begin, end, recordCheck };
}
