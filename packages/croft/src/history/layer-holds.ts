const counts = new Map<string, number>();

/** Keeps layers that this process works with, and no record names yet, from being taken away. */
export function holdLayers(paths: readonly string[]): Disposable {
  let isHeld = true;
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  return {
    [Symbol.dispose]() {
      if (isHeld) paths.forEach(letGo);
      isHeld = false;
    },
  };
}

/** For what is held for longer, and becomes another. Knows nothing but the names. */
export interface Holder {
  keep(paths: readonly string[]): void;
  release(): void;
}

export function createHolder(): Holder {
  let held: Disposable | undefined;
  function keep(paths: readonly string[]): void {
    const before = held;
    held = holdLayers(paths);
    before?.[Symbol.dispose]();
  }
  return { keep, release: () => keep([]) };
}

export function isHeld(path: string): boolean {
  return counts.has(path);
}

function letGo(path: string): void {
  const count = (counts.get(path) ?? 0) - 1;
  if (count > 0) counts.set(path, count);
  else counts.delete(path);
}
