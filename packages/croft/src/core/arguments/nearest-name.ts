/** A longer name is not a typing mistake, and comparing it takes time. */
const maxLength = 64;

/** Returns the name most similar to the written one. `undefined` only if there are no names. */
export function findNearest(written: string, names: readonly string[]): string | undefined {
  return findNearestNames(written, names, 1)[0];
}

/** Returns up to `count` different names, the most similar first. */
export function findNearestNames(written: string, names: readonly string[], count: number): string[] {
  const wanted = toPlain(written);
  return [...new Set(names)]
    .map((name) => ({ name, distance: distanceOf(wanted, toPlain(name)) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ name }) => name);
}

function toPlain(name: string): string {
  return name
    .slice(0, maxLength)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Returns how many letters differ. A name that contains the other one is near. */
function distanceOf(one: string, other: string): number {
  const isPart = one.length > 2 && other.length > 2 && (one.includes(other) || other.includes(one));
  return isPart ? 1 : countChanges(one, other);
}

function countChanges(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === other[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
