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

export function isHeld(path: string): boolean {
  return counts.has(path);
}

function letGo(path: string): void {
  const count = (counts.get(path) ?? 0) - 1;
  if (count > 0) counts.set(path, count);
  else counts.delete(path);
}
