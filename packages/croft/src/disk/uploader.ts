import type { Files, Precondition, Uploaded } from '../core/files.ts';
import type { KeyedLock } from '../lib/keyed-lock.ts';
import { mustBeFree } from './held.ts';
import { mustBeFile, walkIfThere } from './read.ts';
import type { WritableRoot } from './sync.ts';
import type { Sweep } from './temporary.ts';
import { place, type Spooled, spool } from './upload.ts';
import { type Spot, walk } from './walk.ts';
import { mustBeExpected } from './write.ts';
import { beginWrite } from './writer.ts';

/** The way to give a file new content that comes in pieces. On one path it waits for the other ways. */
export function createUploader(root: WritableRoot, locks: KeyedLock, sweep: Sweep): Pick<Files, 'upload'> {
  const { durability } = root;
  return {
    async upload(path, pieces, { maxBytes, expect, around = (work) => work() }) {
      const own = beginWrite(root, path);
      using near = await lookBefore(path, own, expect);
      using spooled = await spool(near?.directory ?? root.handle, pieces, { maxBytes, path, durability });
      return await around(() => putSpooled(path, spooled, expect));
    },
  };

  /** Refuses what cannot be before a byte of it is sent. The spot holds the directory, if there is one. */
  async function lookBefore(path: string, own: string, expect: Precondition | undefined): Promise<Spot | undefined> {
    const spot = walkIfThere(root, path);
    try {
      if (spot && spot.path !== own) mustBeFree(root, spot.path);
      if (spot?.found) mustBeFile(spot.found.stats, path);
      await mustBeExpected(spot?.found, expect, path);
      return spot;
    } catch (thrown) {
      spot?.[Symbol.dispose]();
      throw thrown;
    }
  }

  /** The missing directories are made now that there is something for them. */
  async function putSpooled(path: string, spooled: Spooled, expect: Precondition | undefined): Promise<Uploaded> {
    const own = beginWrite(root, path);
    using spot = walk(root, path, { follow: true, create: true });
    if (spot.path !== own) mustBeFree(root, spot.path);
    sweep(spot.directory);
    return await locks.run(spot.path, () => place({ spot, spooled, expect, path, durability }));
  }
}
