import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitIdentity, PersonalSettings } from '../../core/commands/sandbox.ts';
import { realpathOf } from '../../lib/files/workspace-owner.ts';
import { findProgram } from '../../lib/processes/find-program.ts';
import { type ChildProcess, killProcessGroup, spawnProgram } from '../../lib/processes/spawn.ts';
import { ownEtcDirectory } from '../etc-copy.ts';
import type { HostFileMount } from '../toolchains/certificates.ts';
import { createMountableTextFiles } from './mountable-text-files.ts';

interface IdentityOptions {
  readonly home: string;
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Git settings by key, such as `user.name`. */
type Settings = ReadonlyMap<string, string>;

/** Limits on reading, because a repository may include a file that never ends or is very long. */
const readsWithinMs = 2000;
const maxChars = 64 * 1024;
/** Age after which settings are read again, because the operator may have changed them. */
const freshMs = 10_000;
/** Variables that tell git on the host where its settings are, and those that name the author. */
const settingVariables = ['XDG_CONFIG_HOME', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM'];
const authorVariables = ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'EMAIL'];

/**
 * Creates a function that makes the system-wide git settings of a sandbox, with the identity of the operator.
 * System-wide settings are the weakest, so that settings of a repository override them. Returns `undefined` if git on
 * the host knows no identity.
 */
export function createGitIdentity(options: IdentityOptions) {
  const known = new Map<string, { readonly at: number; readonly settings: Promise<Settings> }>();
  const keep = createMountableTextFiles('git');

  /** Returns cached settings at once, even outdated ones; outdated settings are read again for the next caller. */
  function recall(directory: string): Promise<Settings> {
    const last = known.get(directory);
    if (last && Date.now() - last.at < freshMs) return last.settings;
    const settings = readSettings(directory, options);
    known.set(directory, { at: Date.now(), settings });
    return last?.settings ?? settings;
  }

  return async (directory: number, { gitIdentity }: PersonalSettings): Promise<HostFileMount | undefined> => {
    if (gitIdentity === 'none') return undefined;
    const settings = gitIdentity ? toSettings(gitIdentity) : await recall(realpathOf(directory));
    return settings.size === 0 ? undefined : { source: keep(toText(settings)), target: '/etc/gitconfig' };
  };
}

/** Returns the author variables that croft was started with. They override all settings, as they do in git. */
export function identityVariables(
  { gitIdentity }: PersonalSettings,
  variables: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  if (gitIdentity !== undefined) return {};
  return pick(variables, authorVariables);
}

function toSettings({ name, email }: GitIdentity): Settings {
  return new Map([
    ['user.name', name],
    ['user.email', email],
  ]);
}

/** Reads system and global settings only. Settings of the repository are left to git in the sandbox. */
async function readSettings(directory: string, { home, variables = {} }: IdentityOptions): Promise<Settings> {
  const git = findProgram('git');
  if (!git) return new Map();
  const wanted = '^(user|author|committer)\\.(name|email)$';
  const child = spawnProgram([git, '-C', directory, 'config', '--null', '--show-scope', '--get-regexp', wanted], {
    env: { HOME: home, ...pick(variables, settingVariables) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const timer = setTimeout(() => killProcessGroup(child), readsWithinMs);
  const output = await readOutput(child).catch(() => '');
  clearTimeout(timer);
  return parseSettings(output);
}

async function readOutput(child: ChildProcess): Promise<string> {
  child.once('error', () => {});
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += chunk;
    if (output.length > maxChars) killProcessGroup(child);
  }
  return output;
}

/** Parses records of scope, name, newline and value. The last value of a name wins. */
function parseSettings(output: string): Settings {
  const fields = output.split('\0');
  const settings = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, key, value] = /^([^\n]+)\n([^\n]+)$/.exec(fields[at + 1] ?? '') ?? [];
    if (/^(?:system|global)$/.test(fields[at] ?? '') && key && value) settings.set(key, value);
  }
  return settings;
}

function toText(settings: Settings): string {
  return readFileSync(join(ownEtcDirectory, 'gitconfig'), 'utf8') + [...settings].map(formatSetting).join('');
}

function formatSetting([key, value]: readonly [string, string]): string {
  const [section, name] = key.split('.');
  return `[${section}]\n\t${name} = "${value.replace(/["\\]/g, '\\$&')}"\n`;
}

function pick(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]])));
}
