/**
 * What files are called in a zip of a folder: from there, never upwards, never from a drive, and no name twice. What a
 * program on another system would take for a separator or a drive is written as in an address.
 */
export function createZipNames(folder: string): (path: string) => string {
  const taken = new Set<string>();
  return (path) => {
    const below = folder === '' ? path : path.slice(folder.length + 1);
    const clean = below.replaceAll('\\', '%5C').replace(/^([A-Za-z]):/, '$1%3A');
    let name = clean;
    for (let count = 2; taken.has(name); count++) name = `${clean}~${count}`;
    taken.add(name);
    return name;
  };
}
