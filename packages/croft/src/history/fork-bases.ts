import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { HistoryStore } from '../core/history/store.ts';
import type { TreePath } from '../core/history/tree.ts';
import { openRoot } from '../disk/handles.ts';
import { copyTree } from './copy-tree.ts';
import { findLayerChanges } from './layer-changes.ts';
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

    /** One that was not finished has another name, and is swept. */
    async make(live: number, signal?: AbortSignal): Promise<Base> {
      const name = `base-${randomBytes(8).toString('hex')}`;
      const making = join(ready(), `making-${process.pid}-${name}`);
      mkdirSync(join(making, 'tree'), { recursive: true, mode: 0o711 });
      const beganNs = clockOf(making);
      try {
        await copyTree(live, join(making, 'tree'), { signal });
        writeFileSync(join(making, 'base.json'), JSON.stringify({ beganNs: String(beganNs) }));
        renameSync(making, join(ready(), name));
      } catch (thrown) {
        await rm(making, { recursive: true, force: true });
        throw thrown;
      }
      return { name, path: join(ready(), name, 'tree'), beganNs };
    },

    async drop(isUsed: (name: string) => boolean): Promise<void> {
      if (!existsSync(wanted)) return;
      for (const name of readdirSync(ready())) {
        const [, maker] = /^making-(\d+)-/.exec(name) ?? [];
        const isStale =
          maker === undefined ? !isUsed(name) : statSync(`/proc/${maker}`, { throwIfNoEntry: false }) === undefined;
        if (isStale) await rm(join(ready(), name), { recursive: true, force: true });
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
