import { AppError } from '@croft/protocol';
import { createKeyedLock } from '../../lib/keyed-lock.ts';
import { createArchive } from './archive.ts';
import type { Fork, Forks, OnConflict } from './forks.ts';
import type { History, Snapshot } from './history.ts';
import { type MergePlan, planMerge } from './merge-plan.ts';
import type { HistoryStore } from './store.ts';
import type { PathChange, Root } from './tree.ts';
import { toReport } from './tree-change.ts';
import type { WorkingTree } from './working-tree.ts';

/** A fork, and the tree it started as or was last merged at: without what git ignores. */
export interface HostedFork extends Fork {
  readonly root: Root;
}

export interface NewHostedFork {
  readonly name: string;
  readonly session: string;
  readonly root: Root;
  /** From what the workspace is now to what the fork is to be. */
  readonly changes: readonly PathChange[];
  /** Something is being kept meanwhile, and without it there is no fork: for a host that would rather know before it is one. */
  readonly meanwhile?: (() => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

/** Where forks of one workspace are. */
export interface ForkHost {
  list(): Promise<HostedFork[]>;
  /** Throws `E_ALREADY_EXISTS` for a name that another workspace has. */
  create(fork: NewHostedFork): Promise<HostedFork>;
  remove(fork: HostedFork): Promise<void>;
  /** The files of a fork. */
  openTree(fork: HostedFork): Promise<WorkingTree>;
  /** Everything until this tree is merged. */
  noteMerged(fork: HostedFork, root: Root): Promise<void>;
}

export interface ForksOptions {
  /** Of the workspace itself. */
  readonly tree: WorkingTree;
  readonly history: Pick<History, 'snapshots'>;
  /** Where snapshots are kept, and what forks started as. Left out: with everything else. */
  readonly archive?: HistoryStore | undefined;
  readonly host: ForkHost;
}

const maxForks = 50;
const namePattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/;

export function createForks({ tree, history, archive, host }: ForksOptions): Forks {
  const { store } = tree;
  const kept = createArchive(store, archive ?? store);
  const lock = createKeyedLock();
  const find = async (name: string) => findFork(await host.list(), name);

  async function findStart(snapshot: string | undefined, signal: AbortSignal) {
    if (snapshot === undefined) return { root: (await tree.capture({ scope: 'source', signal })).root, changes: [] };
    const { root, includesIgnored } = findSnapshot(await history.snapshots(), snapshot);
    await kept.bringListings(root, signal);
    const now = await tree.capture({ scope: includesIgnored ? 'with-ignored' : 'source', signal });
    const changes = await tree.diff(now.root, root);
    await kept.bringContents(changes, signal);
    if (!includesIgnored) return { root, changes };
    const source = await tree.capture({ scope: 'source', signal });
    return { root: await tree.amend(source.root, changes), changes };
  }

  async function create({ name, snapshot, session, signal }: Parameters<Forks['fork']>[0]): Promise<Fork> {
    mustBeNew(name, await host.list());
    const { root, changes } = await findStart(snapshot, signal);
    try {
      // What a fork started as is kept for as long as it may be merged. The disk has time for it until the fork is made.
      const noted = store.keep([], [{ kind: 'fork', name, note: { root } }]);
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
    // So that both are in one store, whichever comes from where.
    if (theirs.store !== store) await createArchive(theirs.store, store).put(root, signal);
    const ours = (await tree.capture({ scope: 'source', signal })).root;
    await kept.bringListings(fork.root, signal);
    // A listing that came alone, to be compared with, kept the contents it names from being put here.
    await createArchive(store, theirs.store).bringContents(await tree.diff(fork.root, root), signal);
    const sides = { base: fork.root, theirs: root, ours };
    const plan = await planMerge(sides, { tree, store: kept, onConflict, name: fork.name, signal });
    if (plan.isRefused || (plan.conflicts.length > 0 && onConflict === 'refuse')) throw conflicting(plan, fork.name);
    await store.keep([...plan.contents]);
    const { refused } = await tree.apply(plan.changes, { signal });
    await store.keep([], [{ kind: 'fork', name: fork.name, note: { root } }]);
    await host.noteMerged(fork, root);
    const untouched = new Set(refused);
    const done = plan.changes.filter(({ path }) => !untouched.has(path));
    return { report: toReport({ changes: done, refused }, 'undo'), conflicts: plan.conflicts, merged: plan.merged };
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

/** Throws for a name that cannot be one, or is taken, and for one fork too many. */
export function mustBeNew(name: string, all: readonly Fork[]): void {
  checkName(name);
  if (all.length >= maxForks) throw new AppError('E_QUOTA', `this workspace has ${all.length} forks: remove some`);
  if (all.some((fork) => fork.name === name)) throw taken(name);
}

function checkName(name: string): void {
  if (namePattern.test(name) && name !== 'all') return;
  const rule = 'letters, digits, "_", "." and "-", not beginning with "." or "-", at most 63, and not "all"';
  throw new AppError('E_INVALID_INPUT', `a fork cannot be called ${JSON.stringify(name.slice(0, 100))}: ${rule}`);
}

export function taken(name: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `there is a workspace ${JSON.stringify(name)} already`, {
    details: { name },
  });
}

/** Throws `E_NOT_FOUND`, with the names there are. */
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

function conflicting({ conflicts }: MergePlan, name: string): AppError {
  const shown = conflicts.slice(0, 20).map(({ path, reason }) => `${path} (${reason})`);
  const more = conflicts.length > shown.length ? ` and ${conflicts.length - shown.length} more` : '';
  return new AppError(
    'E_CONFLICT',
    `the fork ${name} and the workspace changed the same paths, and nothing was merged: ${shown.join(', ')}${more}`,
    { details: { conflicts } },
  );
}
