import { mkdirSync } from 'node:fs';
import { createDiskFiles } from '../../src/disk/disk-files.ts';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { makeDirectory } from './harness.ts';

/** Opens files in a directory of their own, with a directory around it that is outside. */
export function openOnDisk() {
  const fixture = makeDirectory();
  const directory = fixture.at('work');
  mkdirSync(directory);
  return {
    fixture,
    directory,
    at: (name: string) => `${directory}/${name}`,
    files: createDiskFiles({ handle: openRoot(directory), names: [directory, '/virtual', fixture.at('nickname')] }),
    [Symbol.dispose]: () => fixture[Symbol.dispose](),
  };
}
