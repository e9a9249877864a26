import { AppError } from '@croft/protocol';
import type { Detector, Profile } from './profile.ts';

export interface ProjectChoice {
  readonly profiles: readonly Profile[];
  readonly detectors: readonly Detector[];
  /** A language, `all`, or nothing where there is one. */
  readonly language?: string | undefined;
  /** A project's directory, or a file in one. */
  readonly path?: string | undefined;
}

/** The projects that a call is about: of one language unless `all` is asked for, the outermost of each. */
export function pickProjects({ profiles, detectors, language = '', path }: ProjectChoice): readonly Profile[] {
  const within = path === undefined || path === '' ? profiles : profilesOf(path, profiles);
  const languages = [...new Set(within.map((profile) => profile.language))].sort();
  if (languages.length === 0) throw new AppError('E_NO_PROJECT', 'no supported project detected in workspace root');
  const wanted = language.trim().toLowerCase();
  if (wanted === 'all') return outermost(within);
  if (wanted === '') return outermost(mustBeOne(within, languages));
  const name = detectors.find((known) => known.language === wanted || known.aliases?.includes(wanted))?.language;
  const chosen = within.filter((profile) => profile.language === name);
  if (chosen.length > 0) return outermost(chosen);
  const detected = languages.join(', ');
  throw new AppError('E_UNKNOWN_LANGUAGE', `language "${wanted}" not detected in workspace; detected: ${detected}`, {
    details: { language: wanted, detected: languages },
  });
}

function mustBeOne(profiles: readonly Profile[], languages: readonly string[]): readonly Profile[] {
  if (languages.length === 1) return profiles;
  throw new AppError(
    'E_LANGUAGE_REQUIRED',
    `polyglot workspace: ${languages.length} project types detected (${languages.join(', ')}) — pass \`language\` to pick one`,
    { details: { languages } },
  );
}

/** Those that a file or directory belongs to: the nearest of each language, and for a directory those below it. */
function profilesOf(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const clean = path.replace(/^\.\//, '').replace(/\/+$/, '');
  const below = profiles.filter(({ directory }) => directory === clean || directory.startsWith(`${clean}/`));
  return below.length > 0 ? below : nearest(clean, profiles);
}

/** The innermost project around a path, of each language. */
export function nearest(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const around = profiles.filter(({ directory }) => directory === '' || path.startsWith(`${directory}/`));
  return around.filter(
    ({ language, directory }) =>
      !around.some((other) => other.language === language && other.directory.length > directory.length),
  );
}

/** A project inside another of its language is run by that one. */
function outermost(profiles: readonly Profile[]): readonly Profile[] {
  return profiles.filter(
    (profile) =>
      !profiles.some(
        (other) =>
          other !== profile && other.language === profile.language && isInside(profile.directory, other.directory),
      ),
  );
}

function isInside(directory: string, other: string): boolean {
  return directory !== other && (other === '' || directory.startsWith(`${other}/`));
}

/** A path of the workspace as the project's programs are told it. */
export function toProjectPath(path: string, { directory }: Profile): string {
  const clean = path.replace(/^\.\//, '');
  return directory !== '' && clean.startsWith(`${directory}/`) ? clean.slice(directory.length + 1) : clean;
}

/** And back. */
export function toWorkspacePath(path: string, { directory }: Profile): string {
  return directory === '' || path.startsWith('/') ? path : `${directory}/${path}`;
}
