import type { Files } from './files.ts';

/** Files that `open` opens when somebody first needs them, and answers from then on. What keeps it from that is thrown. */
export function openFilesLazily(open: () => Promise<Files>): Files {
  return {
    stat: async (path) => (await open()).stat(path),
    read: async (path, options) => (await open()).read(path, options),
    open: async (path) => (await open()).open(path),
    version: async (path) => (await open()).version(path),
    list: async (path, options) => (await open()).list(path, options),
    write: async (path, bytes, options) => (await open()).write(path, bytes, options),
    upload: async (path, pieces, options) => (await open()).upload(path, pieces, options),
    change: async (path, decide) => (await open()).change(path, decide),
    remove: async (path, options) => (await open()).remove(path, options),
    rename: async (from, to) => (await open()).rename(from, to),
    modifiedTimes: async (paths) => (await open()).modifiedTimes(paths),
  };
}
