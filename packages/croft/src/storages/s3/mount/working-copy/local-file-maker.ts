import {
  chmodSync,
  chownSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  open,
  renameSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import type { TreeEntry } from '../../../../core/history/ports/tree.ts';
import type { Owner } from '../../../../lib/files/workspace-owner.ts';
import type { BufferedContent } from './buffered-content.ts';
import type { PlaceholderFile } from './manifest.ts';

const openFile = promisify(open);

/** Creates local files, in a directory that nobody else uses yet or below one that is held open. */
export function createLocalFileMaker(owner: Owner | undefined) {
  const isOwned = owner !== undefined && process.getuid?.() === 0;

  /** Only the open is asynchronous: creating a name may wait for the disk, the writes after it do not. */
  async function make<T>(path: Buffer | string, mode: number, work: (file: number) => T): Promise<T> {
    const file = await openFile(path, 'wx', 0o600);
    try {
      const result = work(file);
      fchmodSync(file, mode);
      if (isOwned) fchownSync(file, owner.uid, owner.gid);
      return result;
    } finally {
      closeSync(file);
    }
  }

  function move(from: string, to: Buffer | string, mode: number): void {
    chmodSync(from, mode);
    if (isOwned) chownSync(from, owner.uid, owner.gid);
    renameSync(from, to);
  }

  return {
    directory(path: Buffer | string): void {
      mkdirSync(path);
      // Explicit, because the umask of this process may be any.
      chmodSync(path, 0o755);
      if (isOwned) chownSync(path, owner.uid, owner.gid);
    },
    async content(path: Buffer | string, { kind, mode }: TreeEntry, held: BufferedContent): Promise<void> {
      if (held.file !== undefined) return move(held.file, path, mode);
      const bytes = held.open();
      if (!Buffer.isBuffer(bytes)) return;
      if (kind === 'link') symlinkSync(bytes, path);
      else await make(path, mode, (file) => writeAll(file, bytes));
    },
    /** Creates a placeholder: a sparse file of the same size, which takes no disk space. */
    placeholder: (path: Buffer | string, { mode, size }: TreeEntry): Promise<PlaceholderFile> =>
      make(path, mode, (file) => {
        ftruncateSync(file, size);
        const { ino, mtimeNs } = fstatSync(file, { bigint: true });
        return { inode: String(ino), mtimeNs: String(mtimeNs) };
      }),
    move,
  };
}

function writeAll(file: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}
