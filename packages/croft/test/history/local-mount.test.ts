import { closeSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDiskFiles } from '../../src/disk/files.ts';
import { openRoot } from '../../src/disk/handles.ts';
import { createLocalTrees } from '../../src/history/local-trees.ts';
import { openLocalMount } from '../../src/storages/index.ts';
import { describeStoredMount } from '../contracts/stored-mount.ts';
import { makeDirectory } from '../harness.ts';

describeStoredMount(
  'a local directory',
  async () => {
    const place = makeDirectory();
    const directory = join(place.path, 'files');
    mkdirSync(directory);
    return {
      async open(server, { quota } = {}) {
        const handle = openRoot(directory);
        const tree = await createLocalTrees().open({ handle, directory, kept: join(place.path, `server-${server}`) });
        const files = createDiskFiles({ handle, names: [directory] });
        const mount = { directory, handle, root: directory, files, mustBeThere() {} };
        const opened = await openLocalMount({ mount, tree, quota });
        return {
          ...opened,
          async close() {
            await tree[Symbol.asyncDispose]();
            await tree.store[Symbol.asyncDispose]();
            closeSync(handle);
          },
        };
      },
      async [Symbol.asyncDispose]() {
        place[Symbol.dispose]();
      },
    };
  },
  { isOneDirectory: true },
);
