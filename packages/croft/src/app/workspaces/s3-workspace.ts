import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { allowControlFiles } from '../../core/files/allow-control-files.ts';
import { openFilesLazily } from '../../core/files/open-files-lazily.ts';
import { recordCall } from '../../core/history/checkpoints/wrap-with-history.ts';
import { createHistory, type ManagedHistory } from '../../core/history/create-history.ts';
import { createLazyHistory } from '../../core/history/lazy-history.ts';
import type { WorkingTree } from '../../core/history/ports/working-tree.ts';
import { guardFiles } from '../../core/quota/guard-files.ts';
import { guardTree } from '../../core/quota/guard-tree.ts';
import {
  type AccountStorage,
  createQuotaGuard,
  type DiskCapacity,
  type QuotaGuard,
} from '../../core/quota/quota-guard.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import type { StoredMount, WorkspaceQuota } from '../../core/storage/stored-mount.ts';
import type { WorkspaceCall } from '../../core/workspace/workspace.ts';
import { once } from '../../lib/concurrency/once.ts';
import { createS3HistoryStore, nameSome, openS3Mount, type S3Mount } from '../../storages/index.ts';
import type { OpenedWorkspace } from './opened-workspaces.ts';
import type { HistoryShare, WorkspaceHistories } from './workspace-histories.ts';

interface S3WorkspaceOptions {
  readonly namespace: string;
  /** The directory of this workspace on this machine. */
  readonly directory: string;
  readonly histories: WorkspaceHistories;
  /** Names of control files that may be changed, whoever asks. Default: none. */
  readonly allowControl?: readonly string[] | undefined;
  readonly quota?: WorkspaceQuota | undefined;
  /** Limits on what the account stores on this machine. Without it, there is no such limit. */
  readonly account?: AccountStorage | undefined;
  /** Free space on the disk of the data directory. Without it, the disk may be filled. */
  readonly disk?: DiskCapacity | undefined;
  readonly historyShare?: HistoryShare | undefined;
  readonly onOutage: 'refuse' | 'queue';
  /** `read-only`: this machine never changes anything in the bucket. */
  readonly access: 'read-write' | 'read-only';
  openObjects(): Promise<ObjectStore>;
  removeDirectory(): Promise<void>;
  onWarning(message: string): void;
  /** Called now and then while a transfer takes long. */
  onProgress(phase: string, done: number, total: number | undefined): void;
}

interface Opened {
  readonly mount: S3Mount;
  /** The tree of the mount, guarded by the quota. */
  readonly tree: WorkingTree;
  readonly guard: QuotaGuard;
  readonly history: ManagedHistory;
  /** Why the workspace cannot be changed. */
  readonly refusal?: AppError | undefined;
  close(): Promise<void>;
}

/** Time limit for storing the changes of a call. They are stored even if the caller stopped waiting. */
const commitMs = 10 * 60_000;
/** How often changes of background commands are stored. */
const flushMs = 10_000;
const progressMs = 1000;
/** Tools that read files which no argument names. */
const toolsReadingAllFiles = new Set(['grep', 'tests_covering']);

/** A workspace in a bucket, with a working tree on this machine. */
export function createS3Workspace(options: S3WorkspaceOptions): OpenedWorkspace {
  let opened: Opened | undefined;
  const opening = () =>
    once(async () => {
      opened = await openMountAndHistory(options);
      return opened;
    });
  let openOnce = opening();
  const open = () => openOnce();
  const history = createLazyHistory(async () => (await open()).history, options.onWarning);

  return {
    key: options.namespace,
    named: (name) => ({
      root: `/workspaces/${name}`,
      files: allowControlFiles(
        openFilesLazily(async () => {
          const { mount, guard } = await open();
          return guardFiles(mount.named(name).files, guard);
        }),
        { names: options.allowControl },
      ),
    }),
    left: async () => (await open()).guard.left(),
    checkQuota: async () => (await open()).guard.mustHaveRoom(),
    directoryFd: async () => (await open()).mount.handle,
    mustBeThere: () => opened?.mount.mustBeThere(),
    tree: async () => (await open()).tree,
    history,
    async wrapCall(call, work) {
      const { mount, refusal, guard } = await open();
      await refreshMount(mount, call);
      if (call.access === 'read') return work();
      if (refusal) throw refusal;
      if (options.onOutage === 'refuse' && !call.leavesFiles) refuseDuringOutage(mount);
      await guard.mustRun(call);
      const result = await recordCall(history, call, work).catch(async (thrown) => {
        // Changes that it made before it failed are stored. A failure to store them is reported with the next call.
        await mount.flush(AbortSignal.timeout(commitMs)).catch(() => {});
        throw thrown;
      });
      const { queued } = await mount.commit(AbortSignal.timeout(commitMs));
      if (queued.length > 0) call.onUnstored?.(unstoredNotice(queued, mount.unavailableSince));
      return result;
    },
    async watch(onChange, signal) {
      await options.histories.watch((await open()).mount.handle, onChange, signal);
    },
    async close({ isRemoved }) {
      // A caller that still has this workspace reopens it with the current settings.
      const was = opened;
      opened = undefined;
      openOnce = opening();
      await was?.close();
      if (isRemoved) await options.removeDirectory();
    },
  };
}

async function refreshMount(mount: StoredMount, { access, tool, signal }: WorkspaceCall): Promise<void> {
  await mount.refresh(signal);
  if (access === 'execute' || toolsReadingAllFiles.has(tool)) await mount.materialize(undefined, signal);
}

/** A workspace that refuses changes during an outage refuses them before they are made. */
function refuseDuringOutage({ unavailableSince: since }: S3Mount): void {
  if (!since) return;
  const message = `the storage of this workspace has not answered since ${since.toISOString()}, and no change is made until it does`;
  const hint =
    'Nothing was done. Files can still be read. Make the call again in a moment; if the error persists, tell the operator.';
  throw new AppError('E_STORAGE_UNAVAILABLE', message, { hint });
}

function unstoredNotice(queued: readonly string[], since: Date | undefined): string {
  const from = since?.toISOString() ?? 'a moment ago';
  return `Not stored yet: ${nameSome(queued)}. The storage has not answered since ${from}. What was changed is on the disk of this machine, and is stored as soon as the storage answers.`;
}

async function openMountAndHistory(options: S3WorkspaceOptions): Promise<Opened> {
  const { namespace, directory, histories, quota, onOutage, onWarning } = options;
  const objects = await options.openObjects();
  const store = await histories.openStore(join(directory, 'history'), options.historyShare);
  try {
    const { mount, refusal } = await openMount({
      ...{ objects, namespace, directory, store, quota, onOutage, onWarning, name: namespace },
      onProgress: throttleProgress(options.onProgress),
      history: createS3HistoryStore({ objects, namespace }),
      openTree: (handle, treeStore) =>
        histories.openTree({
          ...{ directoryFd: handle, store: treeStore, state: join(directory, 'tree') },
          share: options.historyShare,
        }),
      access: options.access,
    });
    const guard = createQuotaGuard({
      quota,
      account: options.account,
      disk: options.disk,
      tree: async () => mount.tree,
    });
    const tree = guardTree(mount.tree, () => guard);
    const history = createHistory({ tree, archive: mount.history, now: () => new Date(), onWarning });
    const flushing = flushPeriodically(mount);
    return {
      ...{ mount, tree, guard, history, refusal },
      async close() {
        flushing[Symbol.dispose]();
        await history.idle();
        await mount.close();
        await store[Symbol.asyncDispose]();
        objects.close();
      },
    };
  } catch (thrown) {
    await store[Symbol.asyncDispose]();
    objects.close();
    throw thrown;
  }
}

/**
 * Opens a workspace read-only if the service has no conditional writes, because two writers could not notice each
 * other.
 */
async function openMount(options: Parameters<typeof openS3Mount>[0]) {
  try {
    return { mount: await openS3Mount(options) };
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.details?.isConditional !== false) throw thrown;
    return { mount: await openS3Mount({ ...options, access: 'read-only' }), refusal: thrown };
  }
}

/** Reports progress at most once per second. */
function throttleProgress(tell: S3WorkspaceOptions['onProgress']): S3WorkspaceOptions['onProgress'] {
  let reportedAt = Date.now();
  return (phase, done, total) => {
    if (Date.now() - reportedAt < progressMs) return;
    reportedAt = Date.now();
    tell(phase, done, total);
  };
}

/** Stores changes periodically, because background commands change files while no call is in progress. */
function flushPeriodically(mount: StoredMount): Disposable {
  let isFlushing = false;
  const flush = async () => {
    if (isFlushing) return;
    isFlushing = true;
    try {
      const touched = await mount.tree.touchedSince('flush');
      if (touched === 'everything' || touched.size > 0) await mount.flush(AbortSignal.timeout(commitMs));
    } catch {
      // The next call reports it.
    } finally {
      isFlushing = false;
    }
  };
  const timer = setInterval(() => void flush(), flushMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
