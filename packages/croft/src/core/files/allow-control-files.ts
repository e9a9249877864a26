import { type Allowance, mergeAllowances } from '../control-files/allowance.ts';
import type { Files } from './files.ts';

/** Wraps `Files`: changes of these control files are allowed. */
export function allowControlFiles(files: Files, allowance: Allowance): Files {
  const { names = [], paths = [] } = allowance;
  if (names.length + paths.length === 0) return files;
  return withAllowances(files, (asked) => mergeAllowances(allowance, asked));
}

/** Wraps `Files`: each change is made with the allowance that `decide` returns for the one that was asked for. */
export function withAllowances(files: Files, decide: (asked: Allowance | undefined) => Allowance): Files {
  const allowing = <Options extends { readonly allow?: Allowance | undefined }>(options: Options) => ({
    ...options,
    allow: decide(options.allow),
  });
  return {
    ...files,
    write: (path, bytes, options = {}) => files.write(path, bytes, allowing(options)),
    change: (path, change, options = {}) => files.change(path, change, allowing(options)),
    upload: (path, pieces, options) => files.upload(path, pieces, allowing(options)),
    remove: (path, options) => files.remove(path, allowing(options)),
    rename: (from, to, options = {}) => files.rename(from, to, allowing(options)),
    ...(files.controlFiles && {
      controlFiles: async (asked, allow) => (await files.controlFiles?.(asked, decide(allow))) ?? [],
    }),
  };
}
