/**
 * Names for the entries of a zip: relative to the folder, never upwards, never with a drive, and none twice. A
 * backslash or a drive's colon, which other systems would interpret, is percent-encoded.
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
