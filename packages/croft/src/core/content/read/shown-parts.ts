/** Most hashes of parts per file, and most files that have any. */
const maxHashes = 2000;
const maxFiles = 1000;

/** Remembers which parts of files were shown, by hashes of their bytes. The oldest are forgotten. */
export function createShownParts() {
  const parts = new Map<string, Set<string>>();
  return {
    add(key: string, hash: string): void {
      const hashes = parts.get(key) ?? new Set();
      hashes.delete(hash);
      parts.delete(key);
      parts.set(key, hashes.add(hash));
      if (hashes.size > maxHashes) dropFirst(hashes);
      if (parts.size > maxFiles) dropFirst(parts);
    },
    /** Without a hash: whether any part of the file was shown. */
    has(key: string, hash?: string): boolean {
      const hashes = parts.get(key);
      return hash === undefined ? hashes !== undefined : (hashes?.has(hash) ?? false);
    },
    delete: (key: string) => void parts.delete(key),
  };
}

function dropFirst(from: Set<string> | Map<string, unknown>): void {
  for (const oldest of from.keys()) return void from.delete(oldest);
}
