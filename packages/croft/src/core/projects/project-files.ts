import { AppError } from '@croft/protocol';
import type { Checks } from '../checks/checks.ts';
import { nearest, toProjectPath } from './pick-projects.ts';
import type { Profile } from './profile.ts';

export type FileNeed = 'lint' | 'typecheck' | 'format' | 'formatCheck';

export interface ProjectFiles {
  readonly profile: Profile;
  /** From the root of the project; none are all. */
  readonly files: readonly string[];
}

interface Choice {
  readonly language?: string | undefined;
  readonly path?: string | undefined;
  readonly files: readonly string[];
}

/** The projects that a call is about, each with those of the files that are its own. */
export async function chooseProjects(checks: Checks, choice: Choice, need: FileNeed): Promise<readonly ProjectFiles[]> {
  const { language, path, files } = choice;
  if (files.length === 0) return toWhole(await checks.pick({ language, path }), need);
  const known = language === undefined ? await checks.projects() : await checks.pick({ language });
  const byProject = new Map<Profile, string[]>();
  for (const file of files) {
    const profile = projectOf(file, known, need) ?? (await checks.pick({ language, path: file }))[0];
    if (profile) byProject.set(profile, [...(byProject.get(profile) ?? []), toProjectPath(file, profile)]);
  }
  return [...byProject].map(([profile, own]) => ({ profile, files: own }));
}

/** Of several, those without such a command stand back; of one it is said that it has none. */
function toWhole(profiles: readonly Profile[], need: FileNeed): readonly ProjectFiles[] {
  const able = profiles.filter((profile) => profile[need] !== undefined);
  return (able.length > 0 ? able : profiles.slice(0, 1)).map((profile) => ({ profile, files: [] }));
}

/** The innermost project around a file whose files end as it does and that has the command. */
export function projectOf(file: string, profiles: readonly Profile[], need: FileNeed): Profile | undefined {
  const able = profiles.filter(
    (profile) => profile[need] !== undefined && profile.extensions.some((ending) => file.endsWith(ending)),
  );
  return nearest(file, able).toSorted((one, other) => other.directory.length - one.directory.length)[0];
}

export function noCommand(what: string, { language, directory }: Profile): AppError {
  const where = directory === '' ? language : `${language} in ${directory}`;
  return new AppError('E_NO_PROJECT', `no ${what} command detected (${where})`, { details: { language, directory } });
}
