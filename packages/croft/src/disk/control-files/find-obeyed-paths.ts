import type { ControlFile } from '../../core/control-files/control-file.ts';
import { realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import { statOf } from '../paths/handles.ts';
import type { WorkspaceRoot } from '../paths/walk.ts';
import { stampOf } from './file-stamp.ts';
import { findRepositories } from './find-repositories.ts';
import { markGitFile, markObeyed, markRepository, type ObeyedPathSearch } from './follow-git-settings.ts';

/** Paths that programs obey because a git setting or a link leads to them. */
export type ObeyedPaths = ReadonlyMap<string, ControlFile>;

interface ObeyedPathsAt {
  readonly obeyed: ObeyedPaths;
  readonly at: number;
  readonly tookMs: number;
  /**
   * The settings files nearest to the root with their stamps: after a change of one, the search is repeated at once.
   */
  readonly stamps: readonly (readonly [path: string, stamp: string])[];
}

interface State {
  /** When the stamps were last found unchanged. */
  currentAt: number;
  last?: ObeyedPathsAt | undefined;
  running?: Promise<ObeyedPathsAt> | undefined;
}

/** The tree is searched again after a second, or after so long that searching takes at most two percent of the time. */
const leastMs = 1000;
const idleShare = 50;
const maxStamps = 16;
const maxKnown = 1000;
const maxAttempts = 3;
/** Changes within this time share one check of the stamps. */
const freshMs = 1;
const always = ['.git/config', '.git/config.worktree'];

/** The state of each directory, shared by all agents in one workspace. Only the open roots keep it alive. */
const known = new Map<string, WeakRef<State>>();
const ofRoots = new WeakMap<WorkspaceRoot, State>();

/**
 * Finds the paths to which settings and links of a workspace lead. Costs a few stats: the tree itself is searched at
 * the first call, again at once after settings near its root have changed, and otherwise periodically in the
 * background.
 */
export async function findObeyedPaths(root: WorkspaceRoot): Promise<ObeyedPaths> {
  const state = stateOf(root);
  let found = state.last ?? (await run(root, state));
  // A search that was already running may have read the settings before they changed.
  for (let attempt = 0; attempt < maxAttempts && !isCurrent(root, state, found); attempt++)
    found = await run(root, state);
  if (performance.now() - found.at > Math.max(leastMs, found.tookMs * idleShare)) run(root, state).catch(() => {});
  return found.obeyed;
}

function isCurrent(root: WorkspaceRoot, state: State, { stamps }: ObeyedPathsAt): boolean {
  const now = performance.now();
  if (now - state.currentAt < freshMs) return true;
  const isSame = stamps.every(([path, stamp]) => stampOf(root, path) === stamp);
  if (isSame) state.currentAt = now;
  return isSame;
}

function stateOf(root: WorkspaceRoot): State {
  const own = ofRoots.get(root);
  if (own) return own;
  const { dev, ino, birthtimeMs } = statOf(root.handle);
  const key = [dev, ino, birthtimeMs, ...root.names].join('\n');
  const state = known.get(key)?.deref() ?? { currentAt: 0 };
  known.set(key, new WeakRef(state));
  ofRoots.set(root, state);
  forgetCollected();
  return state;
}

function forgetCollected(): void {
  if (known.size <= maxKnown) return;
  for (const [key, state] of known) if (!state.deref()) known.delete(key);
}

function run(root: WorkspaceRoot, state: State): Promise<ObeyedPathsAt> {
  state.running ??= searchObeyedPaths(root)
    .then((found) => {
      state.last = found;
      return found;
    })
    .finally(() => {
      state.running = undefined;
    });
  return state.running;
}

/** A deleted directory has no path that a setting could lead to. */
function directoryOf({ handle }: WorkspaceRoot): string {
  return realpathOrSelf(`/proc/self/fd/${handle}`);
}

async function searchObeyedPaths(root: WorkspaceRoot): Promise<ObeyedPathsAt> {
  const at = performance.now();
  const read = new Map(always.map((path) => [path, stampOf(root, path)]));
  const findings: ObeyedPathSearch = { root, directory: directoryOf(root), obeyed: new Map(), read };
  const { directories, gitFiles, links } = await findRepositories(root.handle);
  for (const { path, name } of links) markObeyed(findings, path, { reason: 'link-target', name });
  for (const path of gitFiles) {
    markObeyed(findings, path, { reason: 'git-directory' });
    await markGitFile(findings, path);
  }
  for (const repository of directories) await markRepository(findings, repository);
  return { obeyed: findings.obeyed, at, tookMs: performance.now() - at, stamps: [...read].slice(0, maxStamps) };
}
