import { realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { AppError } from '@croft/protocol';
import { findProgram } from '../../lib/find-program.ts';
import { killGroup, spawnProgram } from '../../lib/spawn.ts';

const answerWithinMs = 10_000;

/** A file of this machine, and where it is in a box. */
export interface Shown {
  readonly file: string;
  readonly as: string;
}

/** The programs, each with the libraries that its loader would look for. */
export async function findPrograms(programs: readonly string[]): Promise<Shown[]> {
  const found = await Promise.all(programs.map(findWithLibraries));
  return [...new Map(found.flat().map((shown) => [shown.as, shown])).values()];
}

async function findWithLibraries(program: string): Promise<Shown[]> {
  const file = findProgram(program);
  const ldd = findProgram('ldd');
  if (!file || !ldd) throw unavailable(`${file ? 'ldd' : program} is not installed`);
  // One that is linked statically has no libraries, which ldd counts as a failure.
  const answer = await ask([ldd, file]);
  const libraries = [...answer.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [{ file, as: `/usr/bin/${program}` }, ...libraries.map((path) => ({ file: realpathSync(path), as: path }))];
}

/** What a program of ours that needs no sandbox prints. */
async function ask(argv: readonly [string, ...string[]]): Promise<string> {
  const child = spawnProgram(argv, { env: { PATH: '/usr/bin:/bin', LANG: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] });
  const failure = new Promise<never>((_, reject) => {
    child.once('error', (cause) => reject(unavailable(`${argv[0]} could not be started`, cause)));
  });
  const timer = setTimeout(() => killGroup(child), answerWithinMs);
  const printed = child.stdout ? text(child.stdout) : failure;
  return await Promise.race([printed, failure]).finally(() => clearTimeout(timer));
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: 'bubblewrap' }, cause });
}
