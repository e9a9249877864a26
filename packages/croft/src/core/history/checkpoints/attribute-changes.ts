import type { PathChange, TreeEntry, TreeHash, TreePath } from '../ports/tree.ts';
import type { Captured, CaptureOptions } from '../ports/working-tree.ts';
import type { OpenCall, OpenCalls } from './open-calls.ts';
import { createWriteCheckpoint, type WriteCheckpointOptions } from './write-checkpoint.ts';

/** The tree as last captured, and the changes that calls reported since. */
export interface LastCapture {
  root: TreeHash | undefined;
  /** Reported entries by path. They are applied to `root` only when a comparison needs the tree. */
  readonly reported: Map<TreePath, TreeEntry | undefined>;
}

export interface AttributeChangesOptions extends WriteCheckpointOptions {
  readonly seen: LastCapture;
  readonly calls: Pick<OpenCalls, 'newestWriter' | 'watching'>;
  /** Automatic captures do not store larger files. */
  readonly maxFileBytes: number;
  onWarning(message: string): void;
}

/** A call waits for at most this many bytes of holes, which are read in a tenth of a second. */
const maxHoleBytes = 64 * 1024 * 1024;

/** Captures the workspace and attributes every change since the last capture to a call, or to nobody. */
export function createAttributeChanges(options: AttributeChangesOptions) {
  const { tree, seen, calls, maxFileBytes, onWarning } = options;
  const writeCheckpoint = createWriteCheckpoint(options);
  const warnOnce = createWarnOnce(onWarning);

  async function capture(onFound?: CaptureOptions['onFound']): Promise<Captured> {
    const captured = await tree.capture({ scope: 'source', maxFileBytes, maxHoleBytes, ...(onFound && { onFound }) });
    const [first] = captured.cutRules;
    if (first !== undefined) warnOnce('rules', cutWarning(first));
    if (captured.isPolled) warnOnce('watches', pollWarning);
    return captured;
  }

  const amend = async (root: TreeHash, changes: readonly PathChange[]): Promise<TreeHash> =>
    changes.length === 0 ? root : tree.amend(root, changes);

  /**
   * Returns these paths as they are in `after`. A path that is being reported, or that was hashed late, belongs to no
   * other call.
   */
  function asNow(paths: readonly TreePath[], after: TreeHash): Promise<PathChange[]> {
    return Promise.all(paths.map(async (path) => ({ path, after: await tree.entry(after, path) })));
  }

  return {
    captureHash: async (onFound?: CaptureOptions['onFound']): Promise<TreeHash> => (await capture(onFound)).root,
    /**
     * Attributes the changes since the last capture to the call `given`, except for a path that is being reported.
     * Without a call, the changes belong to nobody.
     */
    async attribute(given: OpenCall | undefined, reportedPath?: TreePath): Promise<void> {
      const { root: known } = seen;
      const { root: after, late } = await capture();
      const earlier = takeReported(seen);
      seen.root = after;
      if (known === undefined || !given) return;
      const others = await asNow(reportedPath === undefined ? late : [...late, reportedPath], after);
      const before = await amend(known, [...earlier, ...others]);
      if (before === after) return;
      const changes = await tree.diff(before, after);
      for (const watched of calls.watching()) watched.push(...changes);
      // A check that runs beside another call may not have made the change. The other call must be able to undo it.
      const owner = given.call.byproducts === 'all' ? (calls.newestWriter() ?? given) : given;
      await writeCheckpoint(owner, { before, after, changes });
    },
  };
}

function createWarnOnce(onWarning: (message: string) => void) {
  const warned = new Set<string>();
  return (about: string, message: string): void => {
    if (!warned.has(about)) onWarning(message);
    warned.add(about);
  };
}

const pollWarning =
  'the kernel has no more inotify watches for this user: commands in a workspace take longer, because directories without one are looked through after each; raise fs.inotify.max_user_watches, and max_user_instances if that is 0 or small';

function takeReported({ reported }: LastCapture): PathChange[] {
  const changes = [...reported].map(([path, after]) => ({ path, after }));
  reported.clear();
  return changes;
}

function cutWarning(directory: TreePath): string {
  const where = JSON.stringify(directory === '' ? '.gitignore' : `${directory}/.gitignore`);
  return `${where} of a workspace has too many wildcards: the rules at its end are not obeyed; use fewer, or plain names`;
}
