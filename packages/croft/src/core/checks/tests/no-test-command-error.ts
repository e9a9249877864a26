import { AppError } from '@croft/protocol';
import type { Profile } from '../../projects/profile.ts';

/** Adds the problems of the project's settings, which may be the cause. */
export function noTestCommandError({ language, directory, problems = [] }: Profile, hint = ''): AppError {
  const where = directory === '' ? language : `${language} in ${directory}`;
  const why = problems.map((problem) => `; ${problem}`).join('');
  return new AppError('E_NO_PROJECT', `no test command detected (${where})${why}${hint}`, {
    details: { language, directory },
  });
}
