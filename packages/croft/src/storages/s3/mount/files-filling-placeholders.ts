import type { Files } from '../../../core/files/files.ts';
import type { Placeholders } from './working-copy/placeholders.ts';

/** Wraps `Files` of a mount with placeholders: the content of a file is downloaded before it is used. */
export function createFilesWithPlaceholders(files: Files, placeholders: Placeholders): Files {
  async function download(path: string): Promise<void> {
    if (placeholders.size === 0) return;
    const found = await files.stat(path).catch(() => undefined);
    if (found) await placeholders.materialize(placeholders.at(found.path));
  }
  const afterDownload =
    <Rest extends unknown[], T>(work: (path: string, ...rest: Rest) => Promise<T>) =>
    async (path: string, ...rest: Rest): Promise<T> => {
      await download(path);
      return work(path, ...rest);
    };

  return {
    ...files,
    read: afterDownload(files.read),
    open: afterDownload(files.open),
    version: afterDownload(files.version),
    write: afterDownload(files.write),
    upload: afterDownload(files.upload),
    rename: afterDownload(files.rename),
    async change(path, decide, options) {
      await download(path);
      return files.change(path, decide, options);
    },
  };
}
