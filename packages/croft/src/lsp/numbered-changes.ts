import type { ChangedPaths } from '../core/code/ports/language-servers.ts';
import { temporaryPrefix } from '../core/files/temporary-prefix.ts';

/** Returns the paths that may have changed since the last call. The first answer may be `everything`. */
export type TakeChanges = () => Promise<ChangedPaths>;

const maxPaths = 5000;

export type NumberedChanges = ReturnType<typeof createNumberedChanges>;

/** Numbers the changes of a workspace, so that each reader can ask for those that it does not know yet. */
export function createNumberedChanges(take: TakeChanges) {
  /** The number of the last change of each path, the newest last. */
  const numbers = new Map<string, number>();
  let [version, forgottenBefore] = [0, 0];
  let [running, next]: (Promise<number> | undefined)[] = [];

  /** An update in progress may have missed a change from before this call, so another update follows. */
  function update(): Promise<number> {
    if (!running) {
      running = absorb().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        return update();
      });
    return next;
  }

  async function absorb(): Promise<number> {
    const taken = await take();
    if (taken === 'everything') forget();
    else add([...taken].filter(isOfInterest));
    return version;
  }

  function add(paths: readonly string[]): void {
    if (paths.length === 0) return;
    version += 1;
    for (const path of paths) {
      numbers.delete(path);
      numbers.set(path, version);
    }
    if (numbers.size > maxPaths) forget();
  }

  function forget(): void {
    version += 1;
    forgottenBefore = version;
    numbers.clear();
  }

  return {
    /** Takes in every change whose system call has returned. Returns the number of the last one. */
    update,
    current: () => version,
    changedSince(since: number): ChangedPaths {
      if (since < forgottenBefore) return 'everything';
      const changed = new Set<string>();
      for (const [path, number] of [...numbers].reverse()) {
        if (number <= since) break;
        changed.add(path);
      }
      return changed;
    },
  };
}

/** Half-written files and git's own are of no interest to a server, and change all the time. */
function isOfInterest(path: string): boolean {
  const names = path.split('/');
  return !names.includes('.git') && !names.at(-1)?.startsWith(temporaryPrefix) && path.isWellFormed();
}
