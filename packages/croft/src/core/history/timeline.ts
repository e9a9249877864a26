import { createSharedLock } from '../../lib/shared-lock.ts';
import type { Replacement } from '../files.ts';
import { createCallLooks } from './call-looks.ts';
import { createFirstRead } from './first-read.ts';
import type { HistoryCall, Telling } from './history.ts';
import { createOpenCalls } from './open-calls.ts';
import { createSettling, type Seen, type SettlingOptions } from './settling.ts';
import { createToldNotes } from './told-notes.ts';
import { createToldQueue } from './told-queue.ts';
import type { Root } from './tree.ts';

export interface TimelineOptions extends Omit<SettlingOptions, 'seen'> {
  /** How long a call waits for the first reading of a workspace. */
  readonly firstReadMs: number;
  onWarning(message: string): void;
}

export type Timeline = ReturnType<typeof createTimeline>;

/**
 * Which call changed what. The workspace is looked at when a call begins and when it ends; what differs between two looks
 * is whose call was under way, or nobody's. What is under way at the same time is told of each other. A call that tells
 * what it changes is not looked at, and no look falls between what it does and its telling.
 */
export function createTimeline({ firstReadMs, onWarning, ...options }: TimelineOptions) {
  const lock = createSharedLock();
  const calls = createOpenCalls();
  const seen: Seen = { root: undefined };
  const { look, settle } = createSettling({ ...options, seen });
  const first = createFirstRead(async () => {
    const root = await look();
    seen.root ??= root;
  }, firstReadMs);
  const warn = (thrown: unknown): undefined => {
    onWarning(`the history of a workspace cannot be kept: ${thrown}`);
  };
  const isRead = async () => (await first.isDone().catch(warn)) ?? false;
  const settleBut = (path: string) => settle(calls.newest(), path);
  const queue = createToldQueue(createToldNotes({ ...options, seen, settleBut }), warn);

  /** No call that tells is in the middle of it, and all that was told is noted. */
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    lock.alone(async () => {
      await queue.settle();
      return work();
    });

  const { begin, end } = createCallLooks({
    exclusively,
    settle: (owner) => settle(owner).catch(warn),
    calls,
    first,
    isRead,
  });

  async function record<T>(call: HistoryCall, work: () => Promise<T>, id?: string): Promise<T> {
    const open = await begin(call, id);
    try {
      return await work();
    } finally {
      await end(open);
    }
  }

  return {
    exclusively,
    look,
    callOf: calls.of,
    record: <T>(call: HistoryCall, work: () => Promise<T>): Promise<T> => record(call, work),

    async recordTold<T>(call: HistoryCall, work: (telling?: Telling) => Promise<T>): Promise<T> {
      // What is told is told of a tree, and until that is read there is none.
      if (!(await isRead())) return record(call, () => work());
      await queue.room();
      return tellAll(await lock.enter(), work, {
        note(id, told) {
          const at = options.now().toISOString();
          queue.add(told.map((replacement) => ({ id, call, at, replacement })));
        },
        look: (id, inner) => record(call, inner, id),
      });
    },

    /** Alone: what changed until now is settled, and what `work` changes is noted by `work` itself. */
    apart: <T>(work: (before: Root) => Promise<{ result: T; after: Root }>): Promise<T> =>
      exclusively(async () => {
        await first.wait();
        await settle(calls.newest());
        const { result, after } = await work(seen.root ?? (await look()));
        seen.root = after;
        return result;
      }),
  };
}

interface Listener {
  note(id: string, told: readonly Replacement[]): void;
  look<T>(id: string, work: () => Promise<T>): Promise<T>;
}

/** What is told is handed on in the same turn in which others may look again. */
async function tellAll<T>(
  leave: () => void,
  work: (telling: Telling) => Promise<T>,
  { note, look }: Listener,
): Promise<T> {
  const id = crypto.randomUUID();
  const told: Replacement[] = [];
  const finish = () => {
    note(id, told.splice(0));
    leave();
  };
  const looking: Telling['looking'] = (inner) => {
    finish();
    return look(id, inner);
  };
  try {
    return await work({ changed: (replacement) => told.push(replacement), looking });
  } finally {
    finish();
  }
}
