import { realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import { findProgram } from '../../lib/processes/find-program.ts';
import { killProcessGroup, spawnProgram } from '../../lib/processes/spawn.ts';

const answerWithinMs = 10_000;

/** A file of this machine, and its path in a box. */
export interface BoundFile {
  readonly file: string;
  readonly as: string;
}

/** Finds the programs, each with the libraries that its loader needs. */
export async function findProgramFiles(programs: readonly string[]): Promise<BoundFile[]> {
  const found = await Promise.all(programs.map(findWithLibraries));
  return [...new Map(found.flat().map((shown) => [shown.as, shown])).values()];
}

async function findWithLibraries(program: string): Promise<BoundFile[]> {
  const file = findProgram(program);
  const ldd = findProgram('ldd');
  if (!file || !ldd) throw unavailable(`${file ? 'ldd' : program} is not installed`);
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
