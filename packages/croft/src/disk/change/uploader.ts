import type { Files, UploadedFile, UploadOptions } from '../../core/files/files.ts';
import type { KeyedLock } from '../../lib/concurrency/keyed-lock.ts';
import { mustNotBeControlFile } from '../control-files/control-file-guard.ts';
import { serializeGitChanges } from '../control-files/serialize-git-changes.ts';
import type { WritableRoot } from '../durable/sync-directory.ts';
import type { Sweep } from '../durable/temporary-file-names.ts';
import { type ResolvedPath, walk } from '../paths/walk.ts';
import { mustBeFile, walkIfExists } from '../read/read-content.ts';
import { mustBeExpected } from './replace-file.ts';
import { replaceWithUpload, type SpooledUpload, spoolUpload } from './spooled-upload.ts';
import { beginWrite } from './writer.ts';

interface UploadTarget extends Pick<UploadOptions, 'expect' | 'allow'> {
  /** The path as the caller wrote it. */
  readonly path: string;
  /** The same path relative to the root, with links not followed. */
  readonly own: string;
}

/** Replaces files by content that arrives in pieces. Waits for other writers of the same path. */
export function createUploader(root: WritableRoot, locks: KeyedLock, sweep: Sweep): Pick<Files, 'upload'> {
  const { durability } = root;
  return {
    async upload(path, pieces, { maxBytes, expect, allow, around = (work) => work() }) {
      const own = await beginWrite(root, path, { allow });
      using checked = await statBefore({ path, own, expect, allow });
      using spooled = await spoolUpload(checked?.directoryFd ?? root.handle, pieces, { maxBytes, path, durability });
      return await around(() =>
        serializeGitChanges(root, [path], () => putSpooled(spooled, { path, own, expect, allow })),
      );
    },
  };

  /** Rejects an invalid upload before any byte is received. The result holds the directory open, if it exists. */
  async function statBefore({ path, own, expect, allow }: UploadTarget): Promise<ResolvedPath | undefined> {
    const resolved = walkIfExists(root, path);
    try {
      if (resolved && resolved.path !== own) await mustNotBeControlFile(root, resolved.path, allow);
      if (resolved?.found) mustBeFile(resolved.found.stats, path);
      await mustBeExpected(resolved?.found, expect, path);
      return resolved;
    } catch (thrown) {
      resolved?.[Symbol.dispose]();
      throw thrown;
    }
  }

  /** Creates missing directories only now, when the content is complete. */
  async function putSpooled(spooled: SpooledUpload, { path, own, expect, allow }: UploadTarget): Promise<UploadedFile> {
    await beginWrite(root, path, { allow });
    using resolved = walk(root, path, { follow: true, create: true });
    if (resolved.path !== own) await mustNotBeControlFile(root, resolved.path, allow);
    sweep(resolved.directoryFd);
    return await locks.run(resolved.path, () =>
      replaceWithUpload({ target: resolved, spooled, expect, path, durability }),
    );
  }
}
