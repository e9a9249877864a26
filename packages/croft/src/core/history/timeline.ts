import { createKeyedLock } from '../../lib/keyed-lock.ts';
import type { CheckpointLog } from './checkpoint-log.ts';
import { createFirstRead } from './first-read.ts';
import type { HistoryCall } from './history.ts';
import type { CheckpointNote } from './notes.ts';
import { createOpenCalls, type OpenCall } from './open-calls.ts';
import type { Root } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

export interface TimelineOptions {
  readonly tree: WorkingTree;
  readonly log: CheckpointLog;
  now(): Date;
  /** How long a call waits for the first reading of a workspace. */
  readonly firstReadMs: number;
  /** Larger files are not kept automatically. */
  readonly maxFileBytes: number;
  onWarning(message: string): void;
  /** Told of each checkpoint, after it is kept. */
  onCheckpoint(): void;
}

export type Timeline = ReturnType<typeof createTimeline>;

const maxAlongside = 20;

/**
 * Which call changed what. The workspace is looked at when a call begins and when it ends; what differs between two looks
 * is whose call was under way, or nobody's. What is under way at the same time is told of each other.
 */
export function createTimeline(options: TimelineOptions) {
  const { tree, log, maxFileBytes } = options;
  const lock = createKeyedLock();
  const calls = createOpenCalls();
  let known: Root | undefined;
  const first = createFirstRead(async () => {
    const root = await look();
    known ??= root;
  }, options.firstReadMs);

  const exclusively = <T>(work: () => Promise<T>): Promise<T> => lock.run('', work);
  const warn = (thrown: unknown): undefined => {
    options.onWarning(`the history of a workspace cannot be kept: ${thrown}`);
  };

  async function look(): Promise<Root> {
    return (await tree.capture({ scope: 'source', maxFileBytes })).root;
  }

  /** What changed since the last look is this call's; nobody's, if none is under way. */
  async function settle(owner: OpenCall | undefined): Promise<void> {
    const before = known;
    const after = await look();
    known = after;
    if (before === undefined || before === after || !owner) return;
    await log.add(toNote(owner, { before, after, paths: (await tree.diff(before, after)).length, at: options.now() }));
    options.onCheckpoint();
  }

  async function begin(call: HistoryCall): Promise<OpenCall> {
    const isRead = (await first.isDone().catch(warn)) ?? false;
    return exclusively(async () => {
      if (isRead) await settle(calls.newest()).catch(warn);
      return calls.add(call, !isRead);
    });
  }

  async function end(open: OpenCall): Promise<void> {
    await exclusively(async () => {
      if (first.hasRead()) await settle(open).catch(warn);
      calls.delete(open);
    });
  }

  return {
    exclusively,
    look,
    callOf: calls.of,

    async record<T>(call: HistoryCall, work: () => Promise<T>): Promise<T> {
      const open = await begin(call);
      try {
        return await work();
      } finally {
        await end(open);
      }
    },

    /** Alone: what changed until now is settled, and what `work` changes is noted by `work` itself. */
    apart: <T>(work: (before: Root) => Promise<{ result: T; after: Root }>): Promise<T> =>
      exclusively(async () => {
        await first.wait();
        await settle(calls.newest());
        const { result, after } = await work(known ?? (await look()));
        known = after;
        return result;
      }),
  };
}

interface Stretch {
  readonly before: Root;
  readonly after: Root;
  readonly paths: number;
  readonly at: Date;
}

function toNote({ id, call, alongside, isPartial }: OpenCall, { at, ...stretch }: Stretch): CheckpointNote {
  return {
    ...{ callId: id, call, at: at.toISOString(), ...stretch },
    ...(alongside.size > 0 && { alongside: [...alongside].slice(0, maxAlongside) }),
    ...(isPartial && { isPartial }),
  };
}
