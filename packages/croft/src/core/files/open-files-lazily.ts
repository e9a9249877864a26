import type { Files } from './files.ts';

/**
 * Returns `Files` that call `open` before every operation, so that nothing is opened until the first use. Errors of
 * `open` are thrown to the caller of the operation.
 */
export function openFilesLazily(open: () => Promise<Files>): Files {
  return {
    stat: async (path) => (await open()).stat(path),
    read: async (path, options) => (await open()).read(path, options),
    open: async (path) => (await open()).open(path),
    version: async (path) => (await open()).version(path),
    list: async (path, options) => (await open()).list(path, options),
    write: async (path, bytes, options) => (await open()).write(path, bytes, options),
    upload: async (path, pieces, options) => (await open()).upload(path, pieces, options),
    change: async (path, decide, options) => (await open()).change(path, decide, options),
    remove: async (path, options) => (await open()).remove(path, options),
    rename: async (from, to, options) => (await open()).rename(from, to, options),
    controlFiles: async (paths, allow) => (await (await open()).controlFiles?.(paths, allow)) ?? [],
    modifiedTimes: async (paths) => (await open()).modifiedTimes(paths),
  };
}
