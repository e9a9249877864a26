import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** One value in a file: what was there before or what is there now, whenever the power goes. */
export function createJsonFile(path: string) {
  return {
    /** Nothing when there is none, or none that can be read. */
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

/** The same without a file, for what nobody keeps. */
export function createMemoryShelf() {
  let kept: unknown;
  return {
    read: async (): Promise<unknown> => kept,
    async write(value: unknown): Promise<void> {
      kept = value;
    },
  };
}
