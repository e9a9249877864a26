import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { reportTemporaryBase } from '../lib/files/temporary-base.ts';
import {
  findCacheDirectory,
  makeTemporaryDirectory,
  removeTemporaryDirectory,
} from '../lib/files/temporary-directory.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { makeDirectoryBeside } from './watch-outside-workspace.ts';

/** Attacks by other users of this machine in the shared directory for temporary files. */
export const pathsInSharedTemporary: readonly Escape[] = [
  {
    id: 'A22',
    title: 'a directory that everybody shares, where ours are made',
    guards: ['server'],
    attempt: attemptToRead,
  },
  {
    id: 'A22b',
    title: 'caches and sockets in a directory that somebody else made first',
    guards: ['server'],
    attempt: attemptToBeFirst,
  },
];

async function attemptToRead(fixture: EscapeFixture) {
  const open = new Map<string, number>();
  const own = makeTemporaryDirectory('look');
  removeTemporaryDirectory(own);
  const base = dirname(own);
  const watcher = watch(base, (_, name) => {
    const path = join(base, name ?? '');
    const stats = name?.startsWith('proxy-') ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (stats && (!stats.isDirectory() || (stats.mode & 0o067) !== 0)) open.set(path, stats.mode);
  });
  try {
    const network = { mode: 'restricted' as const, domains: ['example.com'], cidrs: [] };
    const rounds = await Promise.all([1, 2, 3].map(() => fixture.open({ network })));
    const seen = await Promise.all(
      rounds.map(({ run }) => run(`ls -d ${base}/proxy-* ${base}/etc-* 2>/dev/null; exit 0`)),
    );
    const left = readdirSync(base).filter((name) => name.startsWith(`proxy-${process.pid}`));
    return toVerdict(
      (lstatSync(base).mode & 0o066) !== 0 && `${base} is open to others`,
      [...open.keys()].map((path) => `${path} was open to others`),
      seen.map(({ output }) => output !== '' && `it shows what is there: ${output}`),
      left.map((name) => `${name} was left`),
    );
  } finally {
    watcher.close();
  }
}

/** Entries that another user puts in the place of our directory. Only root can create an entry of another user. */
const plants: Readonly<Record<string, (path: string) => void>> = {
  'a link': (path) => symlinkSync(dirname(path), path),
  'a file': (path) => writeFileSync(path, ''),
  'a directory for everybody': (path) => chmodSync(mkdirOf(path), 0o777),
  ...(process.getuid?.() === 0 && {
    'a directory of somebody else': (path) => chownSync(mkdirOf(path), 60_419, 60_419),
  }),
};

async function attemptToBeFirst(fixture: EscapeFixture) {
  const problems: Problem[] = [];
  for (const [what, plant] of Object.entries(plants)) {
    using shared = makeDirectoryBeside(fixture);
    chmodSync(shared.path, 0o1777);
    const planted = reportTemporaryBase(shared.path).path;
    rmdirSync(planted);
    plant(planted);
    problems.push(...useAll(shared.path, planted).map((problem) => `${what} was used: ${problem}`));
  }
  return toVerdict(problems);
}

function useAll(shared: string, planted: string): string[] {
  try {
    const [made, cache] = [makeTemporaryDirectory('attempt', shared), findCacheDirectory('attempt', shared)];
    const { uid, mode } = lstatSync(dirname(made));
    const isOurs = dirname(made) !== planted && dirname(made) !== shared && uid === process.geteuid?.();
    removeTemporaryDirectory(made);
    return [
      ...(isOurs && (mode & 0o066) === 0 ? [] : [`${made} was made`]),
      ...(cache === undefined ? [] : [`${cache} is a cache`]),
    ];
  } catch (thrown) {
    return [String(thrown)];
  }
}

function mkdirOf(path: string): string {
  mkdirSync(path);
  return path;
}
