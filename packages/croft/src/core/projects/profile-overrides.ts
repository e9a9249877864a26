import { toLanguage } from './pick-projects.ts';
import type { Argv, CheckCommand, Detector, Profile, ProjectDirectory } from './profile.ts';

/** A project's settings in `croft.toml`. They set commands only: nothing here reaches the sandbox policy. */
export interface ProfileOverrides {
  /** The settings file, for problem messages. */
  readonly file: string;
  /** The project that the settings are for. It is declared if it is not detected. */
  readonly language?: string | undefined;
  readonly extensions?: readonly string[] | undefined;
  readonly commands: OverriddenCommands;
  readonly problems: readonly string[];
}

export interface OverriddenCommands {
  readonly install?: Argv | undefined;
  readonly format?: Argv | undefined;
  readonly formatCheck?: Argv | undefined;
  readonly lint?: CheckCommand | undefined;
  readonly typecheck?: CheckCommand | undefined;
  readonly test?: CheckCommand | undefined;
}

/** Applies each directory's settings to the projects there, and adds the problems of the settings file. */
export async function applyOverrides(
  projects: readonly ProjectDirectory[],
  profiles: readonly Profile[],
  detectors: readonly Detector[],
): Promise<readonly Profile[]> {
  let changed = profiles;
  for (const project of projects) {
    for (const { readOverrides } of detectors) {
      const overrides = await readOverrides?.(project);
      if (overrides) changed = applyIn(project, changed, { ...overrides, language: toName(overrides, detectors) });
    }
  }
  return changed;
}

function toName({ language }: ProfileOverrides, detectors: readonly Detector[]): string | undefined {
  return language === undefined ? undefined : toLanguage(language, detectors);
}

function applyIn(
  { path }: ProjectDirectory,
  profiles: readonly Profile[],
  overrides: ProfileOverrides,
): readonly Profile[] {
  const here = profiles.filter(({ directory }) => directory === path);
  const { language, commands } = overrides;
  const languages = new Set(here.map((profile) => profile.language));
  if (language === undefined && languages.size > 1 && Object.keys(commands).length > 0) {
    const several = `${overrides.file}: ${[...languages].join(' and ')} are here: say in [project] which \`language\` the commands are for`;
    return addProblems(profiles, path, [...overrides.problems, several]);
  }
  const meant = language === undefined ? here : here.filter((profile) => profile.language === language);
  const isSaid = language !== undefined || Object.keys(commands).length > 0;
  if (meant.length === 0 && isSaid) return [...profiles, declare(path, overrides)];
  const changed = profiles.map((profile) => (meant.includes(profile) ? merge(profile, overrides) : profile));
  return addProblems(changed, path, overrides.problems);
}

function merge(profile: Profile, { commands, extensions = profile.extensions }: ProfileOverrides): Profile {
  return { ...profile, ...commands, extensions };
}

function declare(
  directory: string,
  { language = 'custom', extensions = [], commands, problems }: ProfileOverrides,
): Profile {
  const withProblems = problems.length > 0 ? { problems } : {};
  return { language, ecosystem: language, directory, extensions, scripts: {}, ...commands, ...withProblems };
}

/** Adds problems to a project of the directory, or else to the first project, so that they are seen. */
function addProblems(profiles: readonly Profile[], path: string, problems: readonly string[]): readonly Profile[] {
  if (problems.length === 0) return profiles;
  const [first] = profiles;
  if (!first) return [declare(path, { commands: {}, problems, file: '' })];
  const target = profiles.find(({ directory }) => directory === path) ?? first;
  return profiles.map((profile) =>
    profile === target ? { ...profile, problems: [...(profile.problems ?? []), ...problems] } : profile,
  );
}
