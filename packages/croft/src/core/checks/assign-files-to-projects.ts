import { AppError } from '@croft/protocol';
import { nearestProjects, toProjectPath } from '../projects/pick-projects.ts';
import type { Profile } from '../projects/profile.ts';
import type { CheckRegistry } from './check-registry.ts';

type FileCommand = 'lint' | 'typecheck' | 'format' | 'formatCheck';

export interface ProjectFiles {
  readonly profile: Profile;
  /** Files from the project root. Empty: the whole project. */
  readonly files: readonly string[];
}

interface ProjectFilesChoice {
  readonly language?: string | undefined;
  readonly path?: string | undefined;
  readonly files: readonly string[];
}

/** Chooses the projects that a call is about, and assigns each requested file to its project. */
export async function assignFilesToProjects(
  checks: CheckRegistry,
  choice: ProjectFilesChoice,
  need: FileCommand,
): Promise<readonly ProjectFiles[]> {
  const { language, path, files } = choice;
  if (files.length === 0) return wholeProjects(await checks.pick({ language, path }), need);
  const known = language === undefined ? await checks.projects() : await checks.pick({ language });
  const byProject = new Map<Profile, string[]>();
  for (const file of files) {
    const profile = findProjectFor(file, known, need) ?? (await checks.pick({ language, path: file }))[0];
    if (profile) byProject.set(profile, [...(byProject.get(profile) ?? []), toProjectPath(file, profile)]);
  }
  return [...byProject].map(([profile, own]) => ({ profile, files: own }));
}

/** Drops projects without the command; if none has it, the first stays, so that the caller gets an error. */
function wholeProjects(profiles: readonly Profile[], need: FileCommand): readonly ProjectFiles[] {
  const able = profiles.filter((profile) => profile[need] !== undefined);
  return (able.length > 0 ? able : profiles.slice(0, 1)).map((profile) => ({ profile, files: [] }));
}

/** Returns the innermost project around a file that has the command and handles the file's extension. */
export function findProjectFor(file: string, profiles: readonly Profile[], need: FileCommand): Profile | undefined {
  const able = profiles.filter(
    (profile) => profile[need] !== undefined && profile.extensions.some((ending) => file.endsWith(ending)),
  );
  return nearestProjects(file, able).toSorted((one, other) => other.directory.length - one.directory.length)[0];
}

export function noCommandError(what: string, { language, directory }: Profile): AppError {
  const where = directory === '' ? language : `${language} in ${directory}`;
  return new AppError('E_NO_PROJECT', `no ${what} command detected (${where})`, { details: { language, directory } });
}
