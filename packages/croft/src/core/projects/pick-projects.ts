import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Detector, Profile } from './profile.ts';

export interface ProjectChoice {
  readonly profiles: readonly Profile[];
  readonly detectors: readonly Detector[];
  /** A language or `all`. May be left out if the workspace has one language. */
  readonly language?: string | undefined;
  /** A project directory, or a file in one. */
  readonly path?: string | undefined;
  /** The command that the call runs: projects without it are dropped if others have it. */
  readonly needs?: ProjectCommand | undefined;
}

type ProjectCommand = 'test' | 'lint' | 'typecheck' | 'format' | 'formatCheck' | 'install';

/**
 * Picks the projects that a call is about: of one language unless `all` is requested, without projects that another one
 * covers.
 */
export function pickProjects({ profiles, detectors, language = '', path, needs }: ProjectChoice): readonly Profile[] {
  const all = path === undefined ? profiles : profilesOf(path, profiles, needs);
  const detected = languagesOf(all);
  if (detected.length === 0) throw new AppError('E_NO_PROJECT', 'no supported project detected in workspace root');
  const wanted = language.trim().toLowerCase();
  if (wanted === 'all') return withoutCovered(withCommand(needs, all));
  if (wanted === '') return withoutCovered(mustBeOne(withCommand(needs, all)));
  const name = toLanguage(wanted, detectors);
  const chosen = all.filter((profile) => profile.language === name);
  if (chosen.length > 0) return withoutCovered(withCommand(needs, chosen));
  throw new AppError(
    'E_UNKNOWN_LANGUAGE',
    `language "${wanted}" not detected in workspace; detected: ${detected.join(', ')}`,
    { details: { language: wanted, detected } },
  );
}

/** Returns the language name for an alias. An unknown name stays as it is. */
export function toLanguage(name: string, detectors: readonly Detector[]): string {
  return detectors.find(({ language, aliases }) => language === name || aliases?.includes(name))?.language ?? name;
}

function languagesOf(profiles: readonly Profile[]): string[] {
  return [...new Set(profiles.map(({ language }) => language))].sort();
}

function withCommand(needs: ProjectCommand | undefined, profiles: readonly Profile[]): readonly Profile[] {
  const able = needs === undefined ? profiles : profiles.filter((profile) => profile[needs] !== undefined);
  return able.length > 0 ? able : profiles;
}

function mustBeOne(profiles: readonly Profile[]): readonly Profile[] {
  const languages = languagesOf(profiles);
  if (languages.length === 1) return profiles;
  throw new AppError(
    'E_LANGUAGE_REQUIRED',
    `polyglot workspace: ${languages.length} project types detected (${languages.join(', ')}) — pass \`language\` to pick one`,
    { details: { languages } },
  );
}

/** Returns the projects that a file or directory belongs to; for a directory without a project, those below it. */
function profilesOf(path: string, profiles: readonly Profile[], needs: ProjectCommand | undefined): readonly Profile[] {
  const clean = toCleanPath(path);
  const below = profiles.filter(({ directory }) => clean === '' || directory === clean || isInside(directory, clean));
  if (below.length > 0) return below;
  const around = profiles.filter(({ directory }) => isInside(clean, directory));
  return ofFile(clean, nearestProjects(clean, withCommand(needs, around)));
}

/** The extension decides the language of a file; otherwise the file belongs to the innermost project. */
function ofFile(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const byName = profiles.filter(({ extensions }) => extensions.some((ending) => path.endsWith(ending)));
  if (byName.length > 0) return byName;
  const depth = Math.max(...profiles.map(({ directory }) => directory.length));
  return profiles.filter(({ directory }) => directory.length === depth);
}

/** Returns the innermost project around a path, for each language. */
export function nearestProjects(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const around = profiles.filter(({ directory }) => isInside(path, directory));
  return around.filter(
    ({ language, directory }) =>
      !around.some((other) => other.language === language && other.directory.length > directory.length),
  );
}

/** Drops projects that an outer project of the same language covers. */
function withoutCovered(profiles: readonly Profile[]): readonly Profile[] {
  return profiles.filter((profile) => !profiles.some((other) => isCovered(profile, other)));
}

function isCovered({ language, directory }: Profile, other: Profile): boolean {
  return other.language === language && other.coversBelow !== false && isInside(directory, other.directory);
}

function isInside(path: string, directory: string): boolean {
  return path !== directory && (directory === '' || path.startsWith(`${directory}/`));
}

/** Converts a path from the workspace root to one from the project root. */
export function toProjectPath(path: string, { directory }: Profile): string {
  const clean = toCleanPath(path);
  return isInside(clean, directory) ? clean.slice(directory === '' ? 0 : directory.length + 1) : clean;
}

/** Converts a path from the project root to one from the workspace root. */
export function toWorkspacePath(path: string, { directory }: Profile): string {
  return directory === '' || path.startsWith('/') ? path : `${directory}/${path}`;
}

function toCleanPath(path: string): string {
  const clean = posix.normalize(path).replace(/\/+$/, '');
  return clean === '.' ? '' : clean;
}
