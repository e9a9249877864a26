import { AppError } from '@croft/protocol';
import { createKeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import type { WorkingTree } from '../history/ports/working-tree.ts';
import type { WorkspaceQuota } from '../storage/stored-mount.ts';
import type { WorkspaceCall } from '../workspace/workspace.ts';
import { checkQuota, isOverQuota, type StorageUse } from './check-quota.ts';
import type { CommandPacing } from './command-pacing.ts';

/** The storage of an account on this machine: files, caches, histories. */
export interface AccountStorage {
  /** Resolves when its current use is known. */
  ready(): Promise<void>;
  /** Throws `E_QUOTA` if `bytes` more exceed the quota. */
  mustHave(bytes: number): void;
  /** Adds to the current use. */
  charge(bytes: number): void;
  /** Bytes left. */
  left(): number;
  /** Something was removed: the next request measures the use again. */
  invalidate(): void;
}

/** The disk of a workspace, which many share. */
export interface DiskCapacity {
  /** Bytes left. Negative while nothing may grow. */
  left(): number;
  isShort(): boolean;
  /** Throws `E_STORAGE_FULL` if `bytes` more do not fit. */
  mustHave(bytes: number): void;
  /** Absent: commands start at once. */
  readonly pacing?: CommandPacing | undefined;
}

interface QuotaGuardOptions {
  readonly quota?: WorkspaceQuota | undefined;
  readonly account?: AccountStorage | undefined;
  /** Absent: the disk may be filled up. */
  readonly disk?: DiskCapacity | undefined;
  tree(): Promise<Pick<WorkingTree, 'totals'>>;
}

/** Checks how much a change adds. Throws `E_QUOTA`. A change that frees space always passes. */
type JudgeGrowth = (more: StorageUse) => void;

export type QuotaGuard = ReturnType<typeof createQuotaGuard>;

/** Keeps a workspace within its own quota and that of its account: growth above it is refused in advance. */
export function createQuotaGuard({ quota, account, disk, tree }: QuotaGuardOptions) {
  const lock = createKeyedLock();
  const totals = async () => (quota ? (await tree()).totals() : { bytes: 0, files: 0 });
  const alone = <T>(work: () => Promise<T>) => (quota ? lock.run('change', work) : work());

  async function createJudge(): Promise<JudgeGrowth> {
    await account?.ready();
    const before = await totals();
    return ({ bytes, files }) => {
      if (quota) checkQuota(before, { bytes: before.bytes + bytes, files: before.files + files }, quota);
      if (bytes > 0) disk?.mustHave(bytes);
      if (bytes > 0) account?.mustHave(bytes);
    };
  }

  return {
    quota,
    account,
    disk,
    /** Runs changes of one workspace one at a time: two concurrent ones would both be granted the same space. */
    alone,
    /** Runs one change. `work` calls `judge` before it changes anything. */
    judging: <T>(work: (judge: JudgeGrowth) => Promise<T>): Promise<T> =>
      alone(async () => {
        const judge = await createJudge();
        return work((more) => {
          judge(more);
          if (more.bytes > 0) account?.charge(more.bytes);
        });
      }),
    /** Throws `E_QUOTA` for an account that has used up its quota. */
    async mustHaveRoom(): Promise<void> {
      await account?.ready();
      account?.mustHave(0);
    },
    /** Throws `E_QUOTA` for growth that would now exceed the quota. */
    mustFit: async (more: StorageUse): Promise<void> => (await createJudge())(more),
    /** Throws `E_QUOTA` for a command above the quota: not everything it writes could be reverted. */
    async mustRun({ access }: Pick<WorkspaceCall, 'access'>): Promise<void> {
      if (access !== 'execute' || !quota) return;
      const used = await totals();
      if (isOverQuota(used, quota)) throw overAlready(used);
    },
    /** Bytes that may be added now. */
    async left(): Promise<number> {
      await account?.ready();
      const own = quota?.bytes === undefined ? Number.POSITIVE_INFINITY : quota.bytes - (await totals()).bytes;
      return Math.min(own, account?.left() ?? Number.POSITIVE_INFINITY);
    },
  };
}

function overAlready({ bytes, files }: StorageUse): AppError {
  const message =
    `the workspace holds ${bytes} bytes in ${files} files, which is more than its quota: no command runs in it until ` +
    'there is room. Delete files with the tool delete, or make them smaller with write';
  return new AppError('E_QUOTA', message, { details: { bytes, files } });
}
