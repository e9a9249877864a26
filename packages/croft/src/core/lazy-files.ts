import type { Files } from './files.ts';

/** Files that `open` opens when somebody first needs them, and answers from then on. What keeps it from that is thrown. */
export function openFilesLazily(open: () => Promise<Files>): Files {
  let opened: Files | undefined;
  const now = async (): Promise<Files> => {
    opened = await open();
    return opened;
  };
  return {
    stat: async (path) => (await now()).stat(path),
    read: async (path, options) => (await now()).read(path, options),
    open: async (path) => (await now()).open(path),
    version: async (path) => (await now()).version(path),
    list: async (path, options) => (await now()).list(path, options),
    write: async (path, bytes, options) => (await now()).write(path, bytes, options),
    upload: async (path, pieces, options) => (await now()).upload(path, pieces, options),
    change: async (path, decide) => (await now()).change(path, decide),
    remove: async (path, options) => (await now()).remove(path, options),
    rename: async (from, to) => (await now()).rename(from, to),
    // Whoever asks for times has listed something, and so opened it.
    modifiedTimes: (paths) => opened?.modifiedTimes(paths) ?? paths.map(() => 0),
  };
}
