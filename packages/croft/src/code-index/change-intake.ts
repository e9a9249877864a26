import type { Workspace } from '../core/workspace/workspace.ts';
import type { IndexClient } from './index-client.ts';
import { listAll, selectChangedFiles, selectListed, type TakeChangedPaths } from './select-changed-files.ts';

export interface ChangeIntakeOptions {
  readonly client: IndexClient;
  readonly workspace: Pick<Workspace, 'withSearchBox'>;
  readonly take: TakeChangedPaths;
  /** Aborts when the workspace is closed. */
  readonly signal: AbortSignal;
}

export type ChangeIntake = ReturnType<typeof createChangeIntake>;

const maxFiles = 200_000;

/** Notes in the index which files of a workspace have to be read again. */
export function createChangeIntake({ client, workspace, take, signal }: ChangeIntakeOptions) {
  let mustList = true;
  let isTooLarge = false;
  let taking: Promise<boolean> = Promise.resolve(true);
  let listing: Promise<boolean> | undefined;

  async function takeChanges(): Promise<boolean> {
    const changed = selectChangedFiles(await take());
    if (changed === 'everything') mustList = true;
    if (mustList || changed === 'everything' || changed.length === 0) return true;
    const unknown = await client.ask('note', { paths: changed });
    const listed = unknown && (await selectListed(workspace, unknown, signal));
    if (!listed) mustList = true;
    else if (listed.length > 0) await client.ask('add', { paths: listed });
    return true;
  }

  async function listFiles(): Promise<boolean> {
    // Changes are read before the listing, so that changes during the listing arrive with the next ones.
    mustList = false;
    let [isFirst, count] = [true, 0];
    try {
      await listAll(
        workspace,
        async (found) => {
          count += found.length;
          const files = found.map(({ path, time }) => [path, time] as const);
          await client.ask('list', { files, isFirst, isLast: false });
          isFirst = false;
          return count <= maxFiles;
        },
        signal,
      );
      isTooLarge = count > maxFiles;
      if (!isTooLarge) await client.ask('list', { files: [], isFirst, isLast: true });
      return !isTooLarge;
    } catch (thrown) {
      mustList = true;
      throw thrown;
    }
  }

  return {
    /** Takes in what finished system calls have changed. One run follows another, so that none misses a change. */
    take(): Promise<boolean> {
      taking = taking.catch(() => true).then(takeChanges);
      return taking;
    },
    /** Lists all files if that is necessary. Resolves with false for a workspace with too many. */
    async list(): Promise<boolean> {
      if (!mustList && !listing) return !isTooLarge;
      listing ??= listFiles().finally(() => {
        listing = undefined;
      });
      return listing;
    },
    /** Called when the index was deleted: all files have to be listed again. */
    forget(): void {
      mustList = true;
    },
  };
}
