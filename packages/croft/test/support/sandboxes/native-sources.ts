import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The C sources. They include each other by path from here: compile with `-iquote`. */
export const native = join(import.meta.dirname, '../../../native');

/** The folders that `native/compile.mjs` makes the init from. */
const initFolders = ['init', 'box', 'follow', 'search', 'relay'];

/** Lists the sources of the init that end so, by path from `native`. */
export function listInitSources(end: '.c' | '.h'): string[] {
  const files = initFolders.flatMap((folder) =>
    readdirSync(join(native, folder), { encoding: 'utf8', recursive: true }).map((file) => join(folder, file)),
  );
  return files.filter((file) => file.endsWith(end));
}
