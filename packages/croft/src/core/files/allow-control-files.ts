import { type Allowance, mergeAllowances } from '../control-files/allowance.ts';
import type { Files } from './files.ts';

/** Wraps `Files`: changes of these control files are allowed. */
export function allowControlFiles(files: Files, allowance: Allowance): Files {
  const { names = [], paths = [] } = allowance;
  if (names.length + paths.length === 0) return files;
  const allowing = <Options extends { readonly allow?: Allowance | undefined }>(options: Options) => ({
    ...options,
    allow: mergeAllowances(allowance, options.allow),
  });
  return {
    ...files,
    write: (path, bytes, options = {}) => files.write(path, bytes, allowing(options)),
    change: (path, decide, options = {}) => files.change(path, decide, allowing(options)),
    upload: (path, pieces, options) => files.upload(path, pieces, allowing(options)),
    remove: (path, options) => files.remove(path, allowing(options)),
    rename: (from, to, options = {}) => files.rename(from, to, allowing(options)),
    ...(files.controlFiles && {
      controlFiles: async (asked, allow) =>
        (await files.controlFiles?.(asked, mergeAllowances(allowance, allow))) ?? [],
    }),
  };
}
