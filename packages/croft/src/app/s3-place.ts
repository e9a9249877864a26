import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { recordCall } from '../core/history/around.ts';
import { createHistory, type KeptHistory } from '../core/history/create-history.ts';
import { openLazily } from '../core/history/lazy-history.ts';
import { openFilesLazily } from '../core/lazy-files.ts';
import type { ObjectStore } from '../core/objects.ts';
import type { StoredMount, WorkspaceQuota } from '../core/storage.ts';
import type { CallAround } from '../core/workspace.ts';
import { once } from '../lib/once.ts';
import { createS3Store, openS3Mount, type S3Mount } from '../storages/index.ts';
import type { Histories } from './histories.ts';
import type { Place } from './places.ts';

export interface S3PlaceMeans {
  readonly namespace: string;
  /** Of this workspace on this machine. */
  readonly directory: string;
  readonly histories: Histories;
  readonly quota?: WorkspaceQuota | undefined;
  readonly onOutage: 'refuse' | 'queue';
  /** `read-only`: nothing of what is in the bucket is ever changed from here. */
  readonly access: 'read-write' | 'read-only';
  openObjects(): Promise<ObjectStore>;
  removeDirectory(): Promise<void>;
  onWarning(message: string): void;
  /** Told now and then while something takes long. */
  onProgress(phase: string, done: number, total: number | undefined): void;
}

interface Opened {
  readonly mount: S3Mount;
  readonly history: KeptHistory;
  /** Why nothing can be changed there. */
  readonly refusal?: AppError | undefined;
  close(): Promise<void>;
}

/** What a call did is stored, whether or not its caller still waits. */
const commitMs = 10 * 60_000;
/** What goes on in the background is stored so often. */
const flushMs = 10_000;
const progressMs = 1000;
/** Tools that look into files which no argument names. */
const readsAll = new Set(['grep', 'tests_covering']);

/** A workspace in a bucket, with a working tree on this machine. */
export function createS3Place(means: S3PlaceMeans): Place {
  let opened: Opened | undefined;
  const opening = () =>
    once(async () => {
      opened = await openNow(means);
      return opened;
    });
  let openOnce = opening();
  const open = () => openOnce();
  const history = openLazily(async () => (await open()).history, means.onWarning);

  return {
    key: means.namespace,
    named: (name) => ({
      root: `/workspaces/${name}`,
      files: openFilesLazily(async () => (await open()).mount.named(name).files),
    }),
    directory: async () => (await open()).mount.handle,
    mustBeThere: () => opened?.mount.mustBeThere(),
    tree: async () => (await open()).mount.tree,
    history,
    async around(call, work) {
      const { mount, refusal } = await open();
      await takeIn(mount, call);
      if (call.access === 'read') return work();
      if (refusal) throw refusal;
      const result = await recordCall(history, call, work).catch(async (thrown) => {
        // What it did before it failed counts; what keeps it from being stored is told with the next call.
        await mount.flush(AbortSignal.timeout(commitMs)).catch(() => {});
        throw thrown;
      });
      await mount.commit(AbortSignal.timeout(commitMs));
      return result;
    },
    async watch(onChange, signal) {
      await means.histories.watch((await open()).mount.handle, onChange, signal);
    },
    async close({ isRemoved }) {
      // Whoever still has this place finds it anew, with what it is opened with by then.
      const was = opened;
      opened = undefined;
      openOnce = opening();
      await was?.close();
      if (isRemoved) await means.removeDirectory();
    },
  };
}

async function takeIn(mount: StoredMount, { access, tool, signal }: CallAround): Promise<void> {
  await mount.refresh(signal);
  if (access === 'execute' || readsAll.has(tool)) await mount.materialize(undefined, signal);
}

async function openNow(means: S3PlaceMeans): Promise<Opened> {
  const { namespace, directory, histories, quota, onOutage, onWarning } = means;
  const objects = await means.openObjects();
  const store = await histories.openStore(join(directory, 'history'));
  try {
    const { mount, refusal } = await openMount({
      ...{ objects, namespace, directory, store, quota, onOutage, onWarning, name: namespace },
      onProgress: nowAndThen(means.onProgress),
      history: createS3Store({ objects, namespace }),
      openTree: (handle, kept) => histories.openTree({ handle, store: kept, state: join(directory, 'tree') }),
      access: means.access,
    });
    const history = createHistory({ tree: mount.tree, archive: mount.history, now: () => new Date(), onWarning });
    const flushing = flushNowAndThen(mount);
    return {
      ...{ mount, history, refusal },
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

/** A service on which one writer cannot notice another is good enough for readers. */
async function openMount(options: Parameters<typeof openS3Mount>[0]) {
  try {
    return { mount: await openS3Mount(options) };
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.details?.isConditional !== false) throw thrown;
    return { mount: await openS3Mount({ ...options, access: 'read-only' }), refusal: thrown };
  }
}

/** The first thousand objects tell as much as each of them. */
function nowAndThen(tell: S3PlaceMeans['onProgress']): S3PlaceMeans['onProgress'] {
  let toldAt = Date.now();
  return (phase, done, total) => {
    if (Date.now() - toldAt < progressMs) return;
    toldAt = Date.now();
    tell(phase, done, total);
  };
}

/** Programs in the background change files when no call is under way. */
function flushNowAndThen(mount: StoredMount): Disposable {
  let isFlushing = false;
  const flush = async () => {
    if (isFlushing) return;
    isFlushing = true;
    try {
      const touched = await mount.tree.touchedSince('flush');
      if (touched === 'everything' || touched.size > 0) await mount.flush(AbortSignal.timeout(commitMs));
    } catch {
      // The next call is told.
    } finally {
      isFlushing = false;
    }
  };
  const timer = setInterval(() => void flush(), flushMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
