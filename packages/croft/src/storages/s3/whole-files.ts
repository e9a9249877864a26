import type { Files } from '../../core/files.ts';
import type { Holes } from './holes.ts';

/** `Files` of a workspace in which large files may only be named: what is read is brought first. */
export function createWholeFiles(files: Files, holes: Holes): Files {
  async function bring(path: string): Promise<void> {
    if (holes.size === 0) return;
    const found = await files.stat(path).catch(() => undefined);
    if (found) await holes.materialize(holes.at(found.path));
  }
  const whole =
    <Rest extends unknown[], T>(work: (path: string, ...rest: Rest) => Promise<T>) =>
    async (path: string, ...rest: Rest): Promise<T> => {
      await bring(path);
      return work(path, ...rest);
    };

  return {
    ...files,
    read: whole(files.read),
    open: whole(files.open),
    version: whole(files.version),
    write: whole(files.write),
    upload: whole(files.upload),
    rename: whole(files.rename),
    async change(path, decide) {
      await bring(path);
      return files.change(path, decide);
    },
  };
}
