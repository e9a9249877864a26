import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile } from '../read-small-file.ts';
import { absolutePathIn, type HostCache, type HostCacheOptions, listDirectories } from './host-cache.ts';

/** Limit of repositories, because each is a mount that every sandbox has to wait for. */
const maxRepositories = 64;
const maxBytes = 4 * 1024 * 1024;

/**
 * Lists the crates, git repositories and indexes that cargo has fetched. A git repository records the URL it came from,
 * with a password if the URL has one: such repositories are left out.
 */
export function listCargoCaches({ home, variables }: HostCacheOptions): HostCache[] {
  const cargo = absolutePathIn(variables, 'CARGO_HOME') ?? join(home, '.cargo');
  const [indexes, repositories] = [join(cargo, 'registry/index'), join(cargo, 'git/db')];
  return [
    { name: 'cargo/cache', source: join(cargo, 'registry/cache') },
    ...listDirectories(indexes)
      .filter((name) => hasNoCredentials(join(indexes, name, '.git')))
      .map((name) => ({ name: `cargo/index/${name}`, source: join(indexes, name) })),
    ...newestOf(repositories)
      .filter((name) => hasNoCredentials(join(repositories, name)))
      .map((name) => ({ name: `cargo/git/${name}`, source: join(repositories, name) })),
  ];
}

function newestOf(directory: string): string[] {
  const timeOf = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const dated = listDirectories(directory).map((name) => ({ name, time: timeOf(name) }));
  return dated
    .sort((one, other) => other.time - one.time)
    .slice(0, maxRepositories)
    .map(({ name }) => name);
}

/** Tells whether a repository records no URL with a password or token. The user `git@` is no credential. */
function hasNoCredentials(repository: string): boolean {
  return ['config', 'FETCH_HEAD', 'packed-refs', 'logs/HEAD'].every((name) => {
    const text = readSmallFile(join(repository, name), maxBytes);
    return text !== undefined && !/:[/\\]{2}(?!git@)[^\s/]*@|extraheader|password|token/i.test(text);
  });
}
