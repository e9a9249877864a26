import { closeSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { HistoryStore } from '../../core/history/ports/history-store.ts';
import type { TreePath } from '../../core/history/ports/tree.ts';
import { openRoot } from '../../disk/paths/handles.ts';
import { copyTree } from '../files/copy-tree.ts';
import { findLayerChanges } from '../overlay/layer-changes.ts';
import { kernelClockOf, prepareLayersDirectory } from '../overlay/layers.ts';
import {
  isFree,
  isLeftOver,
  makeWhole,
  newLayerName,
  newStepName,
  removeLayerOf,
} from './clean-up-layer-directories.ts';

/** A copy of a workspace at one time, which nobody writes to again. */
export interface ForkBase {
  readonly name: string;
  readonly path: string;
  /** The kernel's clock at the start of the copy. Files that have not changed since are in the base as they are. */
  readonly beganNs: bigint;
}

export type ForkBases = ReturnType<typeof createForkBases>;

const BaseRecord = z.object({ beganNs: z.string().regex(/^\d+$/) });
const discardingStore: Pick<HistoryStore, 'put' | 'quota'> = { put: async () => {} };
const endOfTime = 1n << 62n;

/** The bases of one workspace, in a directory of the data directory. */
export function createForkBases(wanted: string) {
  let parent: string | undefined;
  const ready = () => (parent ??= prepareLayersDirectory(wanted));

  return {
    /** Returns `undefined` if there is no base yet. */
    newest(): ForkBase | undefined {
      if (!existsSync(wanted)) return undefined;
      const all = readdirSync(ready()).flatMap((name) => read(ready(), name));
      return all.sort((one, other) => (one.beganNs < other.beganNs ? 1 : -1))[0];
    },

    async make(workspaceFd: number, signal?: AbortSignal): Promise<ForkBase> {
      const name = newLayerName('base');
      let beganNs = 0n;
      await makeWhole(ready(), name, async (making) => {
        beganNs = kernelClockOf(making);
        await copyTree(workspaceFd, join(making, 'tree'), { signal });
        writeFileSync(join(making, 'base.json'), JSON.stringify({ beganNs: String(beganNs) }));
        return true;
      });
      return { name, path: join(ready(), name, 'tree'), beganNs };
    },

    /** Makes a layer on top of a base. Returns its path, or `undefined` if `fill` put nothing into it. */
    async makeStep(fill: (tree: string) => Promise<void>): Promise<string | undefined> {
      const name = newStepName();
      const isMade = await makeWhole(ready(), name, async (making) => {
        await fill(join(making, 'tree'));
        return readdirSync(join(making, 'tree')).length > 0;
      });
      return isMade ? join(ready(), name, 'tree') : undefined;
    },

    /** Deletes layers that no fork uses. `isOver`: deletes pinned ones too, because no more forks will be made. */
    async drop(isUsed: (path: string) => boolean, { isOver = false } = {}): Promise<void> {
      if (!existsSync(wanted)) return;
      for (const name of readdirSync(ready())) {
        const path = join(ready(), name, 'tree');
        if (isLeftOver(name) || (!isUsed(path) && (isOver || isFree(path)))) await removeLayerOf(path);
      }
    },
  };
}

/**
 * Returns the paths at which a workspace differs from a base. Scans the whole workspace, for when it was not followed.
 * Throws `E_TOO_LARGE`.
 */
export async function compareWithBase(
  base: ForkBase,
  workspaceFd: number,
  options: { readonly maxPaths: number; readonly signal?: AbortSignal | undefined },
): Promise<TreePath[]> {
  const lower = openRoot(base.path);
  try {
    const sides = { lower, merged: workspaceFd, upper: undefined, madeNs: base.beganNs, beganNs: endOfTime };
    const { changes } = await findLayerChanges(sides, { ...options, store: discardingStore });
    return changes.map(({ path }) => path);
  } finally {
    closeSync(lower);
  }
}

function read(parent: string, name: string): ForkBase[] {
  if (!/^base-[0-9a-f]{16}$/.test(name)) return [];
  try {
    const { beganNs } = BaseRecord.parse(JSON.parse(readFileSync(join(parent, name, 'base.json'), 'utf8')));
    return [{ name, path: join(parent, name, 'tree'), beganNs: BigInt(beganNs) }];
  } catch {
    return [];
  }
}
