import { closeSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import type { TreePath } from '../../core/history/ports/tree.ts';
import { openDirectory } from '../../disk/paths/handles.ts';
import { bytesFromPath } from '../../lib/files/path-bytes.ts';
import { copyEntry, ignoreGone } from '../files/copy-tree.ts';
import { statEntry } from '../files/directory-entries.ts';
import { type PathNode, pathsOf, treeOfPaths } from './path-tree.ts';
import { createSeededDirectory, lazily, type SeededDirectory, statForkable, statShown } from './seeded-directory.ts';

interface SeedOptions {
  /** A directory that becomes a layer of an overlay later. */
  readonly upper: string;
  /** Descriptor of the workspace to show. */
  readonly workspaceFd: number;
  /**
   * Descriptors of the layers below, made by this function or by `copyTree`. No layer has a file where one below has a
   * directory.
   */
  readonly below: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

const sliceMs = 5;

/**
 * Copies new and changed files to where an overlay keeps them, before it is mounted. A plain copy costs a tenth of a
 * write through the mount. Returns the paths that need the mount: removals, and changes between a directory and
 * something else.
 */
export async function seedUpper(
  { upper, workspaceFd, below, signal }: SeedOptions,
  paths: readonly TreePath[],
): Promise<TreePath[]> {
  const left: TreePath[] = [];
  let since = performance.now();

  async function seedBelow(directory: SeededDirectory, { children }: PathNode): Promise<void> {
    for (const [name, node] of children) {
      await seed(directory, bytesFromPath(name), node);
      if (performance.now() - since < sliceMs) continue;
      signal?.throwIfAborted();
      await breathe();
      since = performance.now();
    }
  }

  async function seed(directory: SeededDirectory, name: Buffer, node: PathNode): Promise<void> {
    const [inWorkspace, inLayers] = [statForkable(directory.workspaceFd, name), statShown(directory, name)];
    if (inWorkspace?.isDirectory() && inLayers?.isDirectory() !== false)
      return enter(directory, name, { node, isNew: !inLayers });
    // One side has no directory here, so the paths below cannot be compared one by one.
    if (inWorkspace?.isDirectory() || inLayers?.isDirectory()) left.push(...pathsOf(node));
    else if (inWorkspace) await copyEntry(directory.workspaceFd, name, directory.inUpper(name));
    else if (inLayers && node.path !== undefined) left.push(node.path);
  }

  /**
   * Copies only touched paths, also in a new directory: something made in it now and removed again is never reported,
   * and would stay in the layer.
   */
  async function enter(
    parent: SeededDirectory,
    name: Buffer,
    { node, isNew }: { node: PathNode; isNew: boolean },
  ): Promise<void> {
    using opened = new DisposableStack();
    const open = (directoryFd: number) => opened.adopt(openDirectory(directoryFd, name), closeSync);
    const inside = openUnlessGone(() => open(parent.workspaceFd));
    // The directory was replaced meanwhile and will be reported again. The mount then copies whatever is there.
    if (inside === undefined) return void left.push(...pathsOf(node));
    const openIn = (layers: readonly number[]) =>
      layers.filter((layer) => statEntry(layer, name)?.isDirectory()).map(open);
    const [base] = openIn(parent.base === undefined ? [] : [parent.base]);
    const layers = { workspaceFd: inside, base, steps: lazily(() => openIn(parent.steps())) };
    const directory = createSeededDirectory(layers, () => parent.inUpper(name));
    await seedBelow(directory, node);
    if (isNew || node.path !== undefined) directory.make();
    directory.finish();
  }

  const layers = { workspaceFd, base: below.at(-1), steps: () => below.slice(0, -1) };
  await seedBelow(
    createSeededDirectory(layers, () => Buffer.from(upper), true),
    treeOfPaths(paths),
  );
  return left;
}

function openUnlessGone(open: () => number): number | undefined {
  try {
    return open();
  } catch (thrown) {
    ignoreGone(thrown as NodeJS.ErrnoException);
    return undefined;
  }
}
