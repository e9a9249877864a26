import { join } from 'node:path';
import { absolutePathIn, type HostCache, type HostCacheOptions, listDirectories } from './host-cache.ts';

/** Cache name of `GEM_HOME`, which belongs to the Ruby in use. */
export const namedGems = 'named-gems';

/**
 * Directories of installed packages. Directories beside them, which bundler fetched by git, record URLs and are not
 * shown.
 */
const parts = ['gems', 'specifications', 'extensions'];

/** Lists the gems installed for the operator or the machine, by the Ruby version they were built for. */
export function listGemCaches({ home, variables }: HostCacheOptions): HostCache[] {
  const data = absolutePathIn(variables, 'XDG_DATA_HOME') ?? join(home, '.local/share');
  const gemDirectories = [join(data, 'gem/ruby'), join(home, '.gem/ruby'), '/var/lib/gems'];
  const installed = gemDirectories.flatMap((gemDirectory, index) =>
    listDirectories(gemDirectory).map((version) => ({
      name: `gems/${version}/${index}`,
      source: join(gemDirectory, version),
    })),
  );
  const named = absolutePathIn(variables, 'GEM_HOME');
  const all = [...installed, ...(named === undefined ? [] : [{ name: namedGems, source: named }])];
  return all.flatMap(({ name, source }) =>
    parts.map((part) => ({ name: `${name}/${part}`, source: join(source, part) })),
  );
}
