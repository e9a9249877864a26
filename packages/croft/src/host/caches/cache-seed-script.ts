import { type Dirent, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { cachePath, hostCachesPath, sandboxHome as insideHome } from '../sandbox-paths.ts';
import type { HostFileMount } from '../toolchains/certificates.ts';
import { isBelow } from '../toolchains/toolchains.ts';

interface Seed {
  readonly name: string;
  /** Names of files that mark a project that uses this package manager. */
  readonly markers: RegExp;
  /** Depth to which directory times are compared to notice new packages. */
  readonly depth: number;
  /** Shell command that runs in every sandbox, because each has a new home. */
  readonly use?: string;
  /** Shell commands that run when the host's cache has changed. */
  readonly fill: readonly string[];
  /** Whether `unpackNpmIndex` has to run too. */
  readonly wantsIndex?: true;
}

const of = (name: string) => join(hostCachesPath, name);

/** Links each file to the read-only original; programs can write other files beside the links. */
const linkFiles = (from: string, to: string) => `[ -d ${from} ] && mkdir -p ${to} && cp -rsn ${from}/. ${to}/`;
/** Copies files that programs write to. */
const copyFiles = (from: string, to: string) => `[ -d ${from} ] && mkdir -p ${to} && cp -rn ${from}/. ${to}/`;
/** Links each entry of a directory, for packages that are used or copied as a whole. */
const linkEntries = (from: string, to: string) =>
  `[ -d ${from} ] && mkdir -p ${to} && find ${from} -mindepth 1 -maxdepth 1 ! -name '.*' ! -name '*.lck' -print0 | xargs -0r ln -s -t ${to}`;
/** Does the same for every directory that matches a pattern, into a directory of the same name. */
const linkEach = (base: string, pattern: string, to: string) =>
  `for one in ${base}/${pattern}; do ${linkEntries('"$one"', `"${to}/\${one#${base}/}"`)}; done`;

const npmCache = `${cachePath}/npm/_cacache`;
const gems = `${insideHome}/.local/share/gem/ruby`;

/** Package managers that support only one cache directory. */
const seeds: readonly Seed[] = [
  {
    name: 'npm',
    markers: /^(?:package\.json|package-lock\.json|npm-shrinkwrap\.json)$/,
    depth: 4,
    fill: [linkFiles(of('npm/content-v2'), `${npmCache}/content-v2`)],
    wantsIndex: true,
  },
  {
    name: 'cargo',
    markers: /^Cargo\.(?:toml|lock)$/,
    depth: 6,
    fill: [
      linkFiles(of('cargo/cache'), `${cachePath}/cargo/registry/cache`),
      copyFiles(of('cargo/index'), `${cachePath}/cargo/registry/index`),
      // Makes a new repository that borrows the objects: cargo copies no links and writes to the repository with every
      // fetch.
      `for one in ${of('cargo/git')}/*; do own=${cachePath}/cargo/git/db/\${one##*/}`,
      '[ -d $one/objects ] && [ ! -e $own ] && mkdir -p $own/objects/info && echo $one/objects > $own/objects/info/alternates &&',
      'cp -rn $one/refs $one/HEAD $one/config $one/packed-refs $own/; done',
    ],
  },
  {
    name: 'maven',
    markers: /^pom\.xml$/,
    depth: 8,
    use: `mkdir -p ${insideHome}/.m2 ${cachePath}/maven && ln -sn ${cachePath}/maven ${insideHome}/.m2/repository`,
    fill: [linkFiles(of('maven'), `${cachePath}/maven`)],
  },
  {
    name: 'composer',
    markers: /^composer\.(?:json|lock)$/,
    depth: 3,
    fill: [
      linkFiles(of('composer/files'), `${cachePath}/composer/files`),
      copyFiles(of('composer/repo'), `${cachePath}/composer/repo`),
    ],
  },
  {
    name: 'uv',
    markers: /^(?:pyproject\.toml|uv\.lock|requirements.*\.(?:txt|in)|setup\.(?:py|cfg))$/,
    depth: 3,
    fill: [
      linkEach(of('uv'), 'archive-v*', `${cachePath}/uv`),
      // uv writes these files with every answer of the index.
      `for one in ${of('uv')}/simple-v*/pypi ${of('uv')}/wheels-v*/pypi; do own=${cachePath}/uv/\${one#${of('uv')}/}`,
      `${copyFiles('$one', '$own')}; done`,
      // uv's links to packages contain the path of the cache on the host.
      `find ${cachePath}/uv/wheels-v*/pypi -type l -lname '*/archive-v*' -printf '%l\\n%p\\n' | while read -r to && read -r link; do`,
      `ln -sfn ${cachePath}/uv/archive-v\${to##*/archive-v} "$link"; done`,
    ],
  },
  {
    name: 'gradle-wrapper',
    markers: /^gradlew(?:\.bat)?$/,
    depth: 3,
    fill: [linkEach(of('gradle-wrapper'), '*/*', `${cachePath}/gradle/wrapper/dists`)],
  },
  {
    name: 'gems',
    markers: /^(?:Gemfile(?:\.lock)?|gems\.rb|Rakefile|.*\.gemspec)$/,
    depth: 0,
    use: [
      `for version in ${of('gems')}/*; do for place in $version/*; do own=${gems}/\${version##*/}`,
      ...['gems', 'specifications'].map((part) => linkEntries(`$place/${part}`, `$own/${part}`)),
      linkEach('$place', 'extensions/*/*', '$own'),
      'done; done',
    ].join('\n'),
    fill: [],
  },
];

/** The script prints this line when npm's index has to be sent. */
export const npmIndexRequest = 'croft: npm index wanted';
const markOf = (name: string) => `${cachePath}/.croft-${name}`;

/** Shell command that unpacks npm's index from a tar archive. Existing files stay. */
export const unpackNpmIndex = [
  `mkdir -p ${npmCache}/index-v5 && tar --skip-old-files -xf - -C ${npmCache}/index-v5`,
  `mv ${markOf('npm')}.new ${markOf('npm')}`,
].join(' && ');

/**
 * Returns a shell script that fills the caches of a workspace with links to the operator's read-only caches. The script
 * runs inside the sandbox, so that it can reach nothing that a command could not. Returns `undefined` if the project
 * uses none of these package managers.
 */
export function toCacheSeedScript(directoryFd: number): string | undefined {
  const used = seedsFor(directoryFd);
  return used.length === 0 ? undefined : used.map(toScript).join('\n');
}

/** Removes caches that this project does not use: each costs a mount, and commands need not see it. */
export function keepUsedCaches(caches: readonly HostFileMount[], directoryFd: number): HostFileMount[] {
  const used = seedsFor(directoryFd);
  const unused = seeds.filter((seed) => !used.includes(seed)).map(({ name }) => of(name));
  return caches.filter(({ target }) => !unused.some((unusedPath) => isBelow(target, unusedPath)));
}

function seedsFor(directoryFd: number): Seed[] {
  const names = listProjectFiles(directoryFd);
  return seeds.filter(({ markers }) => names.some((file) => markers.test(file)));
}

function toScript({ name, depth, use = ':', fill, wantsIndex }: Seed): string {
  const [source, mark] = [of(name), markOf(name)];
  return [
    `if [ -d ${source} ]; then {`,
    use,
    `now=$(find ${source} -maxdepth ${depth} -type d -printf '%p %T@\\n' | cksum)`,
    `if [ ! -f ${mark} ] || [ "$(cat ${mark})" != "$now" ]; then`,
    ...fill,
    `echo "$now" > ${mark}${wantsIndex ? `.new; echo '${npmIndexRequest}'` : ''}`,
    'fi; } 2>/dev/null; fi',
  ].join('\n');
}

const maxEntries = 2000;
const maxDirectories = 50;

/**
 * Lists file names of the workspace and of its direct sub-directories. Limited, so that large workspaces do not delay a
 * sandbox.
 */
function listProjectFiles(directoryFd: number): string[] {
  const directory = `/proc/self/fd/${directoryFd}`;
  const entries = listEntries(directory);
  const below = entries.filter((entry) => entry.isDirectory() && !/^(?:\.|node_modules$|target$)/.test(entry.name));
  const names = below
    .slice(0, maxDirectories)
    .flatMap(({ name }) => listEntries(join(directory, name), maxEntries / maxDirectories));
  return [...entries, ...names].map(({ name }) => name);
}

function listEntries(path: string, most = maxEntries): Dirent[] {
  const entries: Dirent[] = [];
  try {
    using directory = opendirSync(path);
    for (let entry = directory.readSync(); entry && entries.length < most; entry = directory.readSync())
      entries.push(entry);
  } catch {
    // The directory is gone, or no longer a directory.
  }
  return entries;
}
