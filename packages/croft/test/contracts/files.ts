import { describe } from 'vitest';
import type { Files } from '../../src/core/files.ts';
import { plantCanary } from '../canary.ts';
import { describeChanges } from './files-changes.ts';
import { describeContents } from './files-contents.ts';
import { describeLinks } from './files-links.ts';
import { describePaths } from './files-paths.ts';
import { describeRemoval } from './files-removal.ts';
import { describeRename } from './files-rename.ts';
import { describeUploads } from './files-uploads.ts';
import { describeWriters } from './files-writers.ts';

export interface OpenedFiles extends AsyncDisposable {
  readonly files: Files;
  /** Where the files are on this machine, for what only another process would do. Its parent is the test's own. */
  readonly directory: string;
}

/** What every storage promises. A new one passes this before it is registered. */
export function describeFiles(name: string, open: () => Promise<OpenedFiles>): void {
  const prepare = () => prepareGround(open);
  describe(`${name} files`, () => {
    describeContents(prepare);
    describePaths(prepare);
    describeLinks(prepare);
    describeWriters(prepare);
    describeChanges(prepare);
    describeRemoval(prepare);
    describeRename(prepare);
    describeUploads(prepare);
  });
}

export type Ground = Awaited<ReturnType<typeof prepareGround>>;
export type Prepare = () => Promise<Ground>;

/** Files with a canary beside them, whose path begins as theirs does. Every test ends by looking after it. */
async function prepareGround(open: () => Promise<OpenedFiles>) {
  const opened = await open();
  const { files, directory } = opened;
  const canary = plantCanary(`${directory}-evil`);
  return {
    files,
    directory,
    outside: canary.path,
    at: (name: string) => `${directory}/${name}`,
    async [Symbol.asyncDispose]() {
      const changes = canary.changes();
      await opened[Symbol.asyncDispose]();
      if (changes.length > 0) throw new Error(`the outside was touched:\n${changes.join('\n')}`);
    },
  };
}
