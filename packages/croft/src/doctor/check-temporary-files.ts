import type { Host } from './host.ts';
import { type HostCheck, holds, missing, weaker } from './host-check.ts';

const name = 'temporary files';

/** Checks the directory of caches and sockets. Another user who can write there could make this user run programs. */
export function checkTemporaryFiles({ temporaryFiles: { path, problem, hasOther } }: Host): HostCheck {
  if (problem === undefined) return holds(name, `in ${path}, which is this user's alone`);
  if (!hasOther)
    return missing(name, problem, {
      say: 'Use a temporary directory that is your own, or one where nobody can rename what is not theirs (mode 1777).',
      run: 'TMPDIR=$HOME/.cache croft doctor',
    });
  return weaker(name, `${path} is not used: ${problem}; croft takes another at every start, and starts slower`, {
    say: 'See who made it, and remove it; or set TMPDIR to a directory of your own.',
    run: `ls -ld ${path}; sudo rm -r ${path}`,
  });
}
