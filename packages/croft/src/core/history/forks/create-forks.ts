import { AppError } from '@croft/protocol';
import { createKeyedLock } from '../../../lib/concurrency/keyed-lock.ts';
import type { Fork, Forks, OnConflict } from '../ports/forks.ts';
import type { History, Snapshot } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { PathChange, TreeHash } from '../ports/tree.ts';
import type { WorkingTree } from '../ports/working-tree.ts';
import { toTreeReport } from '../trees/carry-out-plan.ts';
import { createTreeArchive } from '../trees/tree-archive.ts';
import { type MergePlan, planMerge } from './merge-plan.ts';

/** A fork, and the hash of the tree that it started as or was last merged at, without files that git ignores. */
export interface HostedFork extends Fork {
  readonly root: TreeHash;
}

export interface NewHostedFork {
  readonly name: string;
  readonly session: string;
  readonly root: TreeHash;
  /** Changes from the workspace as it is now to what the fork starts as. */
  readonly changes: readonly PathChange[];
  /**
   * Waits for a write that runs while the fork is made. The fork must not exist without it, so the host awaits it
   * before its last step.
   */
  readonly meanwhile?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/** Makes and finds the forks of one workspace. Implemented by the part that knows where forks live. */
export interface ForkHost {
  list(): Promise<HostedFork[]>;
  /** Throws `E_ALREADY_EXISTS` if another workspace has the name. */
  create(fork: NewHostedFork): Promise<HostedFork>;
  remove(fork: HostedFork): Promise<void>;
  /** Opens the working tree of a fork. */
  openTree(fork: HostedFork): Promise<WorkingTree>;
  /** Records that everything up to this tree is merged. */
  noteMerged(fork: HostedFork, root: TreeHash): Promise<void>;
}

interface ForksOptions {
  /** The working tree of the workspace that is forked. */
  readonly tree: WorkingTree;
  readonly history: Pick<History, 'snapshots'>;
  /** The store of snapshots and of the trees that forks started as. Without it, `tree.store` is used. */
  readonly archive?: HistoryStore | undefined;
  readonly host: ForkHost;
}

const maxForks = 50;
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

export function createForks({ tree, history, archive, host }: ForksOptions): Forks {
  const { store } = tree;
  const archived = createTreeArchive(store, archive ?? store);
  const lock = createKeyedLock();
  const find = async (name: string) => findFork(await host.list(), name);

  async function findStart(snapshot: string | undefined, signal: AbortSignal) {
    if (snapshot === undefined) return { root: (await tree.capture({ scope: 'source', signal })).root, changes: [] };
    const { root, includesIgnored } = findSnapshot(await history.snapshots(), snapshot);
    await archived.bringListings(root, signal);
    const now = await tree.capture({ scope: includesIgnored ? 'with-ignored' : 'source', signal });
    const changes = await tree.diff(now.root, root);
    await archived.bringContents(changes, signal);
    if (!includesIgnored) return { root, changes };
    const source = await tree.capture({ scope: 'source', signal });
    return { root: await tree.amend(source.root, changes), changes };
  }

  async function create({ name, snapshot, session, signal }: Parameters<Forks['fork']>[0]): Promise<Fork> {
    mustBeNewFork(name, await host.list());
    const { root, changes } = await findStart(snapshot, signal);
    try {
      // The note keeps the start tree of the fork for as long as the fork may be merged. The write runs while the host
      // makes the fork.
      const noted = store.put([], [{ kind: 'fork', name, note: { root } }]);
      noted.catch(() => {});
      const made = await host.create({ name, session, root, changes, meanwhile: () => noted, signal });
      await noted;
      return show(made);
    } catch (thrown) {
      await store.dropNotes('fork', [name]);
      throw thrown;
    }
  }

  async function merge(fork: HostedFork, onConflict: OnConflict, signal: AbortSignal) {
    const theirs = await host.openTree(fork);
    const { root } = await theirs.capture({ scope: 'source', signal });
    // Copies the tree of the fork, so that one store has both trees.
    if (theirs.store !== store) await createTreeArchive(theirs.store, store).put(root, signal);
    const ours = (await tree.capture({ scope: 'source', signal })).root;
    await archived.bringListings(fork.root, signal);
    // Copies contents too: if the store received a listing alone, for a comparison, `put` above skipped the contents of
    // that listing.
    await createTreeArchive(store, theirs.store).bringContents(await tree.diff(fork.root, root), signal);
    const sides = { base: fork.root, theirs: root, ours };
    const plan = await planMerge(sides, { tree, store: archived, onConflict, name: fork.name, signal });
    if (plan.isRefused || (plan.conflicts.length > 0 && onConflict === 'refuse')) throw mergeConflict(plan, fork.name);
    await store.put([...plan.contents]);
    const { refused } = await tree.apply(plan.changes, { signal });
    await store.put([], [{ kind: 'fork', name: fork.name, note: { root } }]);
    await host.noteMerged(fork, root);
    const untouched = new Set(refused);
    const done = plan.changes.filter(({ path }) => !untouched.has(path));
    return { report: toTreeReport({ changes: done, refused }, 'undo'), conflicts: plan.conflicts, merged: plan.merged };
  }

  return {
    fork: (options) => lock.run('', () => create(options)),
    list: async () => (await host.list()).map(show),
    merge: ({ fork, onConflict, signal }) => lock.run('', async () => merge(await find(fork), onConflict, signal)),
    remove: (name) =>
      lock.run('', async () => {
        await host.remove(await find(name));
        await store.dropNotes('fork', [name]);
      }),
  };
}

function show({ root: _, ...fork }: HostedFork): Fork {
  return fork;
}

/** Throws for an invalid name, for a name that is taken, and when there are too many forks. */
export function mustBeNewFork(name: string, all: readonly Fork[]): void {
  checkName(name);
  if (all.length >= maxForks)
    throw new AppError('E_QUOTA', `this workspace has ${all.length} forks, which is the limit`, {
      hint: 'Remove forks that are no longer needed: workspace_remove.',
    });
  if (all.some((fork) => fork.name === name)) throw forkNameTaken(name);
}

function checkName(name: string): void {
  if (namePattern.test(name) && name !== 'all') return;
  const rule = 'letters, digits, "_", "." and "-", not beginning with "." or "-", at most 63, and not "all"';
  throw new AppError('E_INVALID_INPUT', `a fork cannot be called ${JSON.stringify(name.slice(0, 100))}: ${rule}`);
}

export function forkNameTaken(name: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `there is a workspace ${JSON.stringify(name)} already`, {
    details: { name },
  });
}

/** Throws `E_NOT_FOUND` and lists the existing names. */
export function findFork<T extends Fork>(all: readonly T[], name: string): T {
  const found = all.find((fork) => fork.name === name);
  if (found) return found;
  const names = all.map((fork) => fork.name);
  const rest = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`;
  throw new AppError('E_NOT_FOUND', `there is no fork ${JSON.stringify(name)} of this workspace; ${rest}`, {
    details: { forks: names },
  });
}

function findSnapshot(all: readonly Snapshot[], name: string): Snapshot {
  const found = all.find((snapshot) => snapshot.name === name);
  if (found) return found;
  const names = all.slice(0, 20).map((snapshot) => snapshot.name);
  const rest = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`;
  throw new AppError('E_NOT_FOUND', `there is no snapshot ${JSON.stringify(name)}; ${rest}`, {
    details: { snapshots: names },
  });
}

function mergeConflict({ conflicts }: MergePlan, name: string): AppError {
  const shown = conflicts.slice(0, 20).map(({ path, reason }) => `${path} (${reason})`);
  const more = conflicts.length > shown.length ? ` and ${conflicts.length - shown.length} more` : '';
  return new AppError(
    'E_CONFLICT',
    `the fork ${name} and the workspace changed the same paths, and nothing was merged: ${shown.join(', ')}${more}`,
    {
      details: { conflicts },
      hint: 'Change these paths in the fork or the workspace until they agree, or merge with on_conflict: ours, theirs or markers.',
    },
  );
}
