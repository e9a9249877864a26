import type { SandboxLimits, SandboxSpec } from '../core/commands/sandbox.ts';
import { cachePath, home } from './places.ts';
import type { Toolchains } from './toolchains.ts';

/** For those that do not look in `~/.cache` by themselves. */
const cacheEnvironment = {
  npm_config_cache: `${cachePath}/npm`,
  CARGO_HOME: `${cachePath}/cargo`,
  GOMODCACHE: `${cachePath}/go-mod`,
  GRADLE_USER_HOME: `${cachePath}/gradle`,
};

/** By `LANG`, every program would read a dozen files when it starts that say what it knows without. */
export const characters = 'C.UTF-8';

/** In the order the init knows them. Without a group, memory and processes are limited for each process or user alone. */
export function toRlimits(limits: SandboxLimits, hasGroup: boolean): (number | undefined)[] {
  const { fileBytes, openFiles, processes, memoryBytes } = limits;
  return [undefined, fileBytes, openFiles, ...(hasGroup ? [] : [processes, memoryBytes])];
}

export function toEnvironment(
  { path, environment }: Toolchains,
  { cacheDirectory }: SandboxSpec,
): Record<string, string> {
  return {
    ...environment,
    ...(cacheDirectory === undefined ? {} : cacheEnvironment),
    PATH: path.join(':'),
    HOME: home,
    USER: 'croft',
    LC_CTYPE: characters,
    TMPDIR: '/tmp',
    TERM: 'dumb',
  };
}
