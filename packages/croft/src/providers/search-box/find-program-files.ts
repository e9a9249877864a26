import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import { packageDirectory } from '../../lib/package-directory.ts';
import { findProgram } from '../../lib/processes/find-program.ts';
import { killProcessGroup, spawnProgram } from '../../lib/processes/spawn.ts';

const answerWithinMs = 10_000;

/** A file of this machine, and its path in a box. */
export interface BoundFile {
  readonly file: string;
  readonly as: string;
}

/** Programs that an npm package brings, and the files that they read besides their libraries. */
const packaged: Readonly<Record<string, { readonly package: string; readonly reads: readonly BoundFile[] }>> = {
  'ast-grep': {
    package: `@ast-grep/cli-linux-${process.arch}-gnu`,
    reads: [{ file: join(packageDirectory, 'assets/ast-grep.yml'), as: '/etc/ast-grep.yml' }],
  },
};

/**
 * Finds the programs, each with the libraries that its loader needs. A program of an npm package that is not installed
 * for this machine is left out: whoever starts it is told so.
 */
export async function findProgramFiles(programs: readonly string[]): Promise<BoundFile[]> {
  const found = await Promise.all(programs.map((name) => (packaged[name] ? findPackaged(name) : findInstalled(name))));
  return [...new Map(found.flat().map((shown) => [shown.as, shown])).values()];
}

async function findPackaged(name: string): Promise<BoundFile[]> {
  const { package: from, reads } = packaged[name] as (typeof packaged)[string];
  const file = resolveInPackage(from, name);
  return file === undefined ? [] : [...(await withLibraries(name, file)), ...reads];
}

function resolveInPackage(from: string, name: string): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${from}/package.json`)), name);
  } catch {
    return undefined;
  }
}

async function findInstalled(name: string): Promise<BoundFile[]> {
  const file = findProgram(name);
  if (!file) throw unavailable(`${name} is not installed`);
  return withLibraries(name, file);
}

async function withLibraries(program: string, file: string): Promise<BoundFile[]> {
  const ldd = findProgram('ldd');
  if (!ldd) throw unavailable('ldd is not installed');
  // A statically linked program has no libraries, which ldd reports as a failure.
  const answer = await ask([ldd, file]);
  const libraries = [...answer.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [{ file, as: `/usr/bin/${program}` }, ...libraries.map((path) => ({ file: realpathSync(path), as: path }))];
}

/** Runs a trusted program without a sandbox and returns what it prints. */
async function ask(argv: readonly [string, ...string[]]): Promise<string> {
  const child = spawnProgram(argv, { env: { PATH: '/usr/bin:/bin', LANG: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] });
  const failure = new Promise<never>((_, reject) => {
    child.once('error', (cause) => reject(unavailable(`${argv[0]} could not be started`, cause)));
  });
  const timer = setTimeout(() => killProcessGroup(child), answerWithinMs);
  const printed = child.stdout ? text(child.stdout) : failure;
  return await Promise.race([printed, failure]).finally(() => clearTimeout(timer));
}

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
