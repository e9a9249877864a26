import { mkdirSync } from 'node:fs';
import { createDiskFiles } from '../src/disk/files.ts';
import { openRoot } from '../src/disk/handles.ts';
import { makeDirectory } from './harness.ts';

/** Files in a directory of their own, with room outside it. */
export function openOnDisk() {
  const ground = makeDirectory();
  const directory = ground.at('work');
  mkdirSync(directory);
  return {
    ground,
    directory,
    at: (name: string) => `${directory}/${name}`,
    files: createDiskFiles({ handle: openRoot(directory), names: [directory, '/virtual', ground.at('nickname')] }),
    [Symbol.dispose]: () => ground[Symbol.dispose](),
  };
}
