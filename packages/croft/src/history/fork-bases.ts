import { closeSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { HistoryStore } from '../core/history/store.ts';
import type { TreePath } from '../core/history/tree.ts';
import { openRoot } from '../disk/handles.ts';
import { copyTree } from './copy-tree.ts';
import { findLayerChanges } from './layer-changes.ts';
import { isFree, isLeftOver, makeWhole, newLayerName, newStepName, removeLayerOf } from './layer-directories.ts';
import { clockOf, prepareParent } from './layers.ts';

/** A copy of a workspace as it was, which nobody writes to again. */
export interface Base {
  readonly name: string;
  readonly path: string;
  /** By the kernel's clock: what did not change since is in it as it is. */
  readonly beganNs: bigint;
}

export type Bases = ReturnType<typeof createBases>;

const BaseRecord = z.object({ beganNs: z.string().regex(/^\d+$/) });
const keepsNothing = { keep: async () => {} } as unknown as HistoryStore;
const endOfTime = 1n << 62n;

/** The bases of one workspace, below a directory of ours. */
export function createBases(wanted: string) {
  let parent: string | undefined;
  const ready = () => (parent ??= prepareParent(wanted));

  return {
    /** `undefined`: there is none yet. */
    newest(): Base | undefined {
      if (!existsSync(wanted)) return undefined;
      const all = readdirSync(ready()).flatMap((name) => read(ready(), name));
      return all.sort((one, other) => (one.beganNs < other.beganNs ? 1 : -1))[0];
    },

    async make(live: number, signal?: AbortSignal): Promise<Base> {
      const name = newLayerName('base');
      let beganNs = 0n;
      await makeWhole(ready(), name, async (making) => {
        beganNs = clockOf(making);
        await copyTree(live, join(making, 'tree'), { signal });
        writeFileSync(join(making, 'base.json'), JSON.stringify({ beganNs: String(beganNs) }));
        return true;
      });
      return { name, path: join(ready(), name, 'tree'), beganNs };
    },

    /** A layer of what became different since another. Answers where it is, and nothing if nothing was put into it. */
    async makeStep(fill: (tree: string) => Promise<void>): Promise<string | undefined> {
      const name = newStepName();
      const isMade = await makeWhole(ready(), name, async (making) => {
        await fill(join(making, 'tree'));
        return readdirSync(join(making, 'tree')).length > 0;
      });
      return isMade ? join(ready(), name, 'tree') : undefined;
    },

    /** Takes away what is no fork's. `isOver`: nothing will be made from it either. */
    async drop(isUsed: (path: string) => boolean, { isOver = false } = {}): Promise<void> {
      if (!existsSync(wanted)) return;
      for (const name of readdirSync(ready())) {
        const path = join(ready(), name, 'tree');
        if (isLeftOver(name) || (!isUsed(path) && (isOver || isFree(path)))) await removeLayerOf(path);
      }
    },
  };
}

/** Where a workspace differs from a base. A look at all of it: for when nobody has followed it. Throws `E_TOO_LARGE`. */
export async function compareWithBase(
  base: Base,
  live: number,
  options: { readonly maxPaths: number; readonly signal?: AbortSignal | undefined },
): Promise<TreePath[]> {
  const lower = openRoot(base.path);
  try {
    const sides = { lower, merged: live, upper: undefined, madeNs: base.beganNs, beganNs: endOfTime };
    const { changes } = await findLayerChanges(sides, { ...options, store: keepsNothing });
    return changes.map(({ path }) => path);
  } finally {
    closeSync(lower);
  }
}

function read(parent: string, name: string): Base[] {
  if (!/^base-[0-9a-f]{16}$/.test(name)) return [];
  try {
    const { beganNs } = BaseRecord.parse(JSON.parse(readFileSync(join(parent, name, 'base.json'), 'utf8')));
    return [{ name, path: join(parent, name, 'tree'), beganNs: BigInt(beganNs) }];
  } catch {
    return [];
  }
}
