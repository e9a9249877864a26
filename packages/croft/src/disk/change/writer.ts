import { AppError } from '@croft/protocol';
import type { Allowance } from '../../core/control-files/allowance.ts';
import type {
  ChangeOptions,
  CurrentFile,
  FileReplacement,
  FileState,
  Files,
  FileWriteOptions,
  NewContent,
} from '../../core/files/files.ts';
import { toSegments } from '../../core/files/workspace-path.ts';
import { isSyncedControlFile } from '../../core/skills/skill-directories.ts';
import type { KeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { type GuardedRoot, mustNotBeControlFile } from '../control-files/control-file-guard.ts';
import type { WritableRoot } from '../durable/sync-directory.ts';
import type { Sweep } from '../durable/temporary-file-names.ts';
import { type ResolvedPath, type WorkspaceRoot, walk } from '../paths/walk.ts';
import { type CurrentFileWithState, readCurrent, walkIfExists } from '../read/read-content.ts';
import { type Decide, mustBeExpected, replaceFile, type Written } from './replace-file.ts';

/** The target of a write. */
interface WriteTarget {
  /** The path as the caller wrote it. */
  readonly path: string;
  /** The same path relative to the root, with links not followed. */
  readonly own: string;
  readonly resolved: ResolvedPath;
  readonly isExecutable?: boolean | undefined;
  readonly allow?: Allowance | undefined;
}

/** Implements `write` and `change`, for content that is complete. Writers of one path wait for each other. */
export function createWriter(root: WritableRoot, locks: KeyedLock, sweep: Sweep): Pick<Files, 'write' | 'change'> {
  return {
    write: async (path, bytes, options) => (await write(path, bytes, options)).written,

    async change<Decided extends NewContent>(
      path: string,
      decide: (current: CurrentFile | undefined) => Decided | Promise<Decided>,
      { allow }: ChangeOptions = {},
    ) {
      const own = await beginWrite(root, path, { allow });
      using parent = walkIfExists(root, path);
      if (!parent) {
        const change = await decide(undefined);
        return toChanged({ ...(await write(path, change.bytes, { expect: 'absent', allow })), change });
      }
      let current: CurrentFileWithState | undefined;
      const done = await replace({ path, own, resolved: parent, allow }, async (found) => {
        current = found && (await readCurrent(found, parent.path, path));
        return decide(current);
      });
      return toChanged(done, current);
    },
  };

  async function write(path: string, bytes: Uint8Array, options: FileWriteOptions = {}) {
    const { expect, isExecutable, allow } = options;
    const own = await beginWrite(root, path, options);
    using parent = walk(root, path, { follow: true, create: true });
    return await replace({ path, own, resolved: parent, isExecutable, allow }, async (found) => {
      await mustBeExpected(found, expect, path);
      return { bytes };
    });
  }

  async function replace<Decided extends NewContent>(target: WriteTarget, decide: Decide<Decided>) {
    const { path, own, resolved, isExecutable, allow } = target;
    // Checked again for the resolved path.
    if (resolved.path !== own) await mustNotBeControlFile(root, resolved.path, allow);
    sweep(resolved.directoryFd);
    const isLate = locks.isHeld(resolved.path);
    return await locks.run(resolved.path, () =>
      replaceFile({ target: resolved, isLate, decide, path, isExecutable, durability: root.durability }),
    );
  }
}

function toChanged<Decided extends NewContent>(
  { written, change, mode }: Written<Decided>,
  current?: CurrentFileWithState,
) {
  const { path, size, version } = written;
  const before = current && toState(current);
  const replacement: FileReplacement = { path, before, after: { mode, size, version, bytes: change.bytes } };
  return { written, change, replacement };
}

function toState({ mode, size, version, bytes }: FileState): FileState {
  return { mode, size, version, bytes };
}

/** Rejects a path by its spelling, before a directory is created for it. Returns it relative to the root. */
export async function beginWrite(
  root: GuardedRoot,
  path: string,
  { isSynced = false, allow }: Pick<FileWriteOptions, 'isSynced' | 'allow'> = {},
): Promise<string> {
  if (path.endsWith('/')) throw refuseDirectory(root, path);
  const own = toSegments(path, root.names).join('/');
  if (!(isSynced && isSyncedControlFile(own))) await mustNotBeControlFile(root, own, allow);
  return own;
}

/** Reports errors of the path itself first. */
function refuseDirectory(root: WorkspaceRoot, path: string): AppError {
  using _ = walk(root, path, { follow: true });
  return new AppError('E_NOT_A_FILE', `path names a directory: ${path}`, { details: { path } });
}
