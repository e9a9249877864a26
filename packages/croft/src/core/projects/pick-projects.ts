import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import type { Detector, Profile } from './profile.ts';

export interface ProjectChoice {
  readonly profiles: readonly Profile[];
  readonly detectors: readonly Detector[];
  /** A language, `all`, or nothing where there is one. */
  readonly language?: string | undefined;
  /** A project's directory, or a file in one. */
  readonly path?: string | undefined;
  /** What the call is going to run: projects that have none stand back where others have it. */
  readonly needs?: Need | undefined;
}

export type Need = 'test' | 'lint' | 'typecheck' | 'format' | 'formatCheck' | 'install';

/** The projects that a call is about: of one language unless `all` is asked for, and none that another runs anyway. */
export function pickProjects({ profiles, detectors, language = '', path, needs }: ProjectChoice): readonly Profile[] {
  const all = path === undefined ? profiles : profilesOf(path, profiles, needs);
  const detected = languagesOf(all);
  if (detected.length === 0) throw new AppError('E_NO_PROJECT', 'no supported project detected in workspace root');
  const wanted = language.trim().toLowerCase();
  if (wanted === 'all') return outermost(thoseWith(needs, all));
  if (wanted === '') return outermost(mustBeOne(thoseWith(needs, all)));
  const name = toLanguage(wanted, detectors);
  const chosen = all.filter((profile) => profile.language === name);
  if (chosen.length > 0) return outermost(thoseWith(needs, chosen));
  throw new AppError(
    'E_UNKNOWN_LANGUAGE',
    `language "${wanted}" not detected in workspace; detected: ${detected.join(', ')}`,
    { details: { language: wanted, detected } },
  );
}

/** A language by the name that projects go by; one that nobody knows stays as it is. */
export function toLanguage(name: string, detectors: readonly Detector[]): string {
  return detectors.find(({ language, aliases }) => language === name || aliases?.includes(name))?.language ?? name;
}

function languagesOf(profiles: readonly Profile[]): string[] {
  return [...new Set(profiles.map(({ language }) => language))].sort();
}

function thoseWith(needs: Need | undefined, profiles: readonly Profile[]): readonly Profile[] {
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

/** Those that a file or directory belongs to; for a directory that is none, those below it. */
function profilesOf(path: string, profiles: readonly Profile[], needs: Need | undefined): readonly Profile[] {
  const clean = toClean(path);
  const below = profiles.filter(({ directory }) => clean === '' || directory === clean || isInside(directory, clean));
  if (below.length > 0) return below;
  const around = profiles.filter(({ directory }) => isInside(clean, directory));
  return ofFile(clean, nearest(clean, thoseWith(needs, around)));
}

/** The end of its name says of which language a file is; otherwise it belongs to the innermost project. */
function ofFile(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const byName = profiles.filter(({ extensions }) => extensions.some((ending) => path.endsWith(ending)));
  if (byName.length > 0) return byName;
  const depth = Math.max(...profiles.map(({ directory }) => directory.length));
  return profiles.filter(({ directory }) => directory.length === depth);
}

/** The innermost project around a path, of each language. */
export function nearest(path: string, profiles: readonly Profile[]): readonly Profile[] {
  const around = profiles.filter(({ directory }) => isInside(path, directory));
  return around.filter(
    ({ language, directory }) =>
      !around.some((other) => other.language === language && other.directory.length > directory.length),
  );
}

/** A project inside another of its language is run by that one, if that one covers what is below it. */
function outermost(profiles: readonly Profile[]): readonly Profile[] {
  return profiles.filter((profile) => !profiles.some((other) => isCovered(profile, other)));
}

function isCovered({ language, directory }: Profile, other: Profile): boolean {
  return other.language === language && other.coversBelow !== false && isInside(directory, other.directory);
}

function isInside(path: string, directory: string): boolean {
  return path !== directory && (directory === '' || path.startsWith(`${directory}/`));
}

/** A path of the workspace as the project's programs are told it. */
export function toProjectPath(path: string, { directory }: Profile): string {
  const clean = toClean(path);
  return isInside(clean, directory) ? clean.slice(directory === '' ? 0 : directory.length + 1) : clean;
}

/** And back. */
export function toWorkspacePath(path: string, { directory }: Profile): string {
  return directory === '' || path.startsWith('/') ? path : `${directory}/${path}`;
}

function toClean(path: string): string {
  const clean = posix.normalize(path).replace(/\/+$/, '');
  return clean === '.' ? '' : clean;
}
