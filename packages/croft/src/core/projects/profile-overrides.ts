import { toLanguage } from './pick-projects.ts';
import type { Argv, Check, Detector, Profile, ProjectDirectory } from './profile.ts';

/** What the people of a project say of it in `croft.toml`. Commands only: nothing here can reach the fence. */
export interface Overrides {
  /** Where it is said, for problems. */
  readonly file: string;
  /** The project that is meant, which is declared where it is not detected. */
  readonly language?: string | undefined;
  readonly extensions?: readonly string[] | undefined;
  readonly commands: Commands;
  readonly problems: readonly string[];
}

export interface Commands {
  readonly install?: Argv | undefined;
  readonly format?: Argv | undefined;
  readonly formatCheck?: Argv | undefined;
  readonly lint?: Check | undefined;
  readonly typecheck?: Check | undefined;
  readonly test?: Check | undefined;
}

/** Every project as its own directory's file says, with the problems of that file. */
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

function toName({ language }: Overrides, detectors: readonly Detector[]): string | undefined {
  return language === undefined ? undefined : toLanguage(language, detectors);
}

function applyIn({ path }: ProjectDirectory, profiles: readonly Profile[], overrides: Overrides): readonly Profile[] {
  const here = profiles.filter(({ directory }) => directory === path);
  const { language, commands } = overrides;
  const languages = new Set(here.map((profile) => profile.language));
  if (language === undefined && languages.size > 1 && Object.keys(commands).length > 0) {
    const several = `${overrides.file}: ${[...languages].join(' and ')} are here: say in [project] which \`language\` the commands are for`;
    return tell(profiles, path, [...overrides.problems, several]);
  }
  const meant = language === undefined ? here : here.filter((profile) => profile.language === language);
  const isSaid = language !== undefined || Object.keys(commands).length > 0;
  if (meant.length === 0 && isSaid) return [...profiles, declare(path, overrides)];
  const changed = profiles.map((profile) => (meant.includes(profile) ? merge(profile, overrides) : profile));
  return tell(changed, path, overrides.problems);
}

function merge(profile: Profile, { commands, extensions = profile.extensions }: Overrides): Profile {
  return { ...profile, ...commands, extensions };
}

function declare(directory: string, { language = 'custom', extensions = [], commands, problems }: Overrides): Profile {
  const told = problems.length > 0 ? { problems } : {};
  return { language, ecosystem: language, directory, extensions, scripts: {}, ...commands, ...told };
}

/** On a project of that directory, otherwise on the first there is, so that they are seen. */
function tell(profiles: readonly Profile[], path: string, problems: readonly string[]): readonly Profile[] {
  if (problems.length === 0) return profiles;
  const [first] = profiles;
  if (!first) return [declare(path, { commands: {}, problems, file: '' })];
  const teller = profiles.find(({ directory }) => directory === path) ?? first;
  return profiles.map((profile) =>
    profile === teller ? { ...profile, problems: [...(profile.problems ?? []), ...problems] } : profile,
  );
}
