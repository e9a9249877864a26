import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Stores one JSON value in a file. After a power cut the file holds either the old or the new value, whole. */
export function createJsonFile(path: string) {
  return {
    /** Returns `undefined` when the file is missing or is not valid JSON. */
    async read(): Promise<unknown> {
      try {
        return JSON.parse(await readFile(path, 'utf8'));
      } catch {
        return undefined;
      }
    },
    async write(value: unknown): Promise<void> {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomUUID()}`;
      try {
        await using file = await open(temporary, 'wx', 0o600);
        await file.writeFile(JSON.stringify(value));
        await file.sync();
        await rename(temporary, path);
      } catch (thrown) {
        await rm(temporary, { force: true });
        throw thrown;
      }
    },
  };
}

/** Has the same interface as `createJsonFile` but keeps the value in memory, for servers without a data directory. */
export function createMemoryJson() {
  let storedValue: unknown;
  return {
    read: async (): Promise<unknown> => storedValue,
    async write(value: unknown): Promise<void> {
      storedValue = value;
    },
  };
}
