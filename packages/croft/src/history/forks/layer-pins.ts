const counts = new Map<string, number>();

/** Pins layers that this process uses and that no record names yet, so that they are not deleted. */
export function pinLayers(paths: readonly string[]): Disposable {
  let isPinned = true;
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  return {
    [Symbol.dispose]() {
      if (isPinned) paths.forEach(unpin);
      isPinned = false;
    },
  };
}

/** Pins a set of layers that changes over time. */
export interface LayerPins {
  replace(paths: readonly string[]): void;
  release(): void;
}

export function createLayerPins(): LayerPins {
  let pinned: Disposable | undefined;
  function replace(paths: readonly string[]): void {
    const before = pinned;
    pinned = pinLayers(paths);
    before?.[Symbol.dispose]();
  }
  return { replace, release: () => replace([]) };
}

export function isPinned(path: string): boolean {
  return counts.has(path);
}

function unpin(path: string): void {
  const count = (counts.get(path) ?? 0) - 1;
  if (count > 0) counts.set(path, count);
  else counts.delete(path);
}
