import { createSharedExclusiveLock } from '../../../lib/concurrency/shared-exclusive-lock.ts';
import type { FileReplacement } from '../../files/files.ts';
import type { ChangeReporter, HistoryCall, OnNotUndoable } from '../ports/history.ts';
import type { TreeHash } from '../ports/tree.ts';
import { type ScanProgress, TreeClosed } from '../ports/working-tree.ts';
import { type AttributeChangesOptions, createAttributeChanges, type LastCapture } from './attribute-changes.ts';
import { createCallCaptures } from './call-captures.ts';
import { createFirstRead } from './first-read.ts';
import { createHistoryQuotaWatch } from './history-quota-watch.ts';
import { notReadYet } from './not-undoable-notices.ts';
import { createOpenCalls } from './open-calls.ts';
import { createReportedChangesQueue } from './reported-changes-queue.ts';
import { createReportedCheckpoints } from './reported-checkpoints.ts';

interface ChangeRecorderOptions extends Omit<AttributeChangesOptions, 'seen' | 'calls'> {
  /** How long a call waits for the first read of a workspace that is not large. */
  readonly firstReadMs: number;
}

type ReportingWork<T> = (reporter?: ChangeReporter) => Promise<T>;

export type ChangeRecorder = ReturnType<typeof createChangeRecorder>;

/**
 * Records which call changed what. The workspace is captured when a call begins and when it ends. The difference
 * between two captures belongs to the call in progress, or to nobody. Calls that overlap are recorded as `alongside` of
 * each other. A call that reports its changes is not captured, and no capture happens between its changes and its
 * report.
 */
export function createChangeRecorder({ firstReadMs, onWarning, ...options }: ChangeRecorderOptions) {
  const lock = createSharedExclusiveLock();
  const notUndoable = createHistoryQuotaWatch({ store: options.tree.store, maxFileBytes: options.maxFileBytes });
  const calls = createOpenCalls();
  const seen: LastCapture = { root: undefined, reported: new Map() };
  const { captureHash, attribute } = createAttributeChanges({ ...options, onWarning, seen, calls });
  const warn = (thrown: unknown): undefined =>
    thrown instanceof TreeClosed ? undefined : void onWarning(`the history of a workspace cannot be kept: ${thrown}`);
  const attributeAllBut = (path: string) => attribute(calls.newest(), path);
  const queue = createReportedChangesQueue(
    createReportedCheckpoints({ ...options, seen, hasRead: () => first.hasRead(), attributeAllBut }),
    warn,
  );

  /** Runs `work` while no reporting call is in progress, after all reported changes are written. */
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    lock.alone(async () => {
      await queue.settle();
      return work();
    });

  const read = createReadAll({ captureHash, exclusively, seen });
  const first = createFirstRead({ read, waitMs: firstReadMs, onRead: queue.retry });
  const isRead = async () => (await first.isDone().catch(warn)) ?? false;

  const { begin, end, recordCheck } = createCallCaptures({
    ...{ exclusively, calls, first, isRead },
    attribute: (owner) => attribute(owner).then(() => true, warn),
  });

  async function record<T>(call: HistoryCall, work: () => Promise<T>, recording: Recording = {}): Promise<T> {
    const { id, onNotUndoable } = recording;
    const open = await begin(call, { id });
    if (open.isPartial) onNotUndoable?.(notReadYet);
    return notUndoable.watching(() => work().finally(() => end(open)), onNotUndoable);
  }

  return {
    exclusively,
    captureHash: () => captureHash(),
    callOf: calls.of,
    record: <T>(call: HistoryCall, work: () => Promise<T>, onNotUndoable?: OnNotUndoable): Promise<T> =>
      record(call, work, { onNotUndoable }),
    recordCheck,

    async recordReported<T>(call: HistoryCall, work: ReportingWork<T>, onNotUndoable?: OnNotUndoable): Promise<T> {
      first.start(warn);
      await queue.waitForCapacity();
      return runReporting(await lock.enter(), work, {
        enqueue(id, replacements) {
          const at = options.now().toISOString();
          notUndoable.checkReported(replacements, onNotUndoable);
          queue.add(replacements.map((replacement) => ({ id, call, at, replacement })));
        },
        captureAround: (id, inner) => record({ ...call, byproducts: 'new' }, inner, { id, onNotUndoable }),
      });
    },

    /** Runs `work` exclusively. Earlier changes are attributed first; `work` records its own changes itself. */
    runExclusive: <T>(work: (before: TreeHash) => Promise<{ result: T; after: TreeHash }>): Promise<T> =>
      first.wait().then(() =>
        exclusively(async () => {
          await attribute(calls.newest());
          const { result, after } = await work(seen.root ?? (await captureHash()));
          seen.root = after;
          return result;
        }),
      ),
  };
}

/** A workspace up to this size is read in less time than a call takes anyway. */
const small = { files: 2000, bytes: 64 * 1024 * 1024 };

interface ReadAllOptions {
  captureHash(onFound?: (found: ScanProgress) => void): Promise<TreeHash>;
  exclusively(work: () => Promise<void>): Promise<void>;
  readonly seen: LastCapture;
}

/**
 * Captures the tree while calls run, which may take long, and then a second time, quickly, while no call reports.
 * Changes between the two belong to no call, unless a call reported them.
 */
function createReadAll({ captureHash, exclusively, seen }: ReadAllOptions) {
  return async (onLarge: () => void): Promise<void> => {
    await captureHash((found) => isLarge(found) && onLarge());
    await exclusively(async () => {
      seen.root = await captureHash();
    });
  };
}

function isLarge({ files, bytes }: ScanProgress): boolean {
  return files > small.files || bytes > small.bytes;
}

interface Recording {
  /** The id of the call, if it already has one. */
  readonly id?: string | undefined;
  readonly onNotUndoable?: OnNotUndoable | undefined;
}

interface ReportListener {
  enqueue(id: string, replacements: readonly FileReplacement[]): void;
  captureAround<T>(id: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Runs a call that reports its changes. The reports are queued in the same turn of the event loop in which captures are
 * allowed again.
 */
async function runReporting<T>(
  leave: () => void,
  work: (reporter: ChangeReporter) => Promise<T>,
  { enqueue, captureAround: captureCall }: ReportListener,
): Promise<T> {
  const id = crypto.randomUUID();
  const reported: FileReplacement[] = [];
  const finish = () => {
    enqueue(id, reported.splice(0));
    leave();
  };
  const captureAround: ChangeReporter['captureAround'] = (inner) => {
    finish();
    return captureCall(id, inner);
  };
  try {
    return await work({ changed: (replacement) => reported.push(replacement), finish, captureAround });
  } finally {
    finish();
  }
}
