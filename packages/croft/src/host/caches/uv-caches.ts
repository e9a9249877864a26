import { join } from 'node:path';
import { absolutePathIn, type HostCache, type HostCacheOptions, listDirectories } from './host-cache.ts';

/** Parts of uv's cache: unpacked packages, answers of the public index, and the index of wheels. */
const parts: readonly (readonly [RegExp, string])[] = [
  [/^archive-v\d+$/, ''],
  [/^simple-v\d+$/, 'pypi'],
  [/^wheels-v\d+$/, 'pypi'],
];

/**
 * Lists uv's cache of the public index. Caches of other indexes record URLs, some with a password, and are left out.
 */
export function listUvCaches({ home, variables }: HostCacheOptions): HostCache[] {
  const usual = join(absolutePathIn(variables, 'XDG_CACHE_HOME') ?? join(home, '.cache'), 'uv');
  const cache = absolutePathIn(variables, 'UV_CACHE_DIR') ?? usual;
  return listDirectories(cache).flatMap((bucket) =>
    parts
      .filter(([names]) => names.test(bucket))
      .map(([, part]) => ({ name: join('uv', bucket, part), source: join(cache, bucket, part) })),
  );
}
