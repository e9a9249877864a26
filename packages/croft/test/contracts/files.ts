import { describe } from 'vitest';
import type { Files } from '../../src/core/files/files.ts';
import { plantCanary } from '../support/canary.ts';
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
  /** Path of the files on this machine, for changes by another process. Its parent directory belongs to the test. */
  readonly directory: string;
}

/** The contract of every storage. A new storage must pass it before it is registered. */
export function describeFiles(name: string, open: () => Promise<OpenedFiles>): void {
  const prepare = () => prepareFixture(open);
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

export type FilesFixture = Awaited<ReturnType<typeof prepareFixture>>;
export type Prepare = () => Promise<FilesFixture>;

/** Opens files with a canary beside them whose path has the same prefix. Every test ends by checking the canary. */
async function prepareFixture(open: () => Promise<OpenedFiles>) {
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
