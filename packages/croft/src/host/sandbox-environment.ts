import type { SandboxLimits, SandboxSpec } from '../core/commands/sandbox.ts';
import { cachePath, sandboxHome, temporaryPath } from './sandbox-paths.ts';
import type { Toolchains } from './toolchains/toolchains.ts';

/** Variables for package managers that do not use `~/.cache` by default. */
const cacheEnvironment = {
  npm_config_cache: `${cachePath}/npm`,
  CARGO_HOME: `${cachePath}/cargo`,
  GOMODCACHE: `${cachePath}/go-mod`,
  GRADLE_USER_HOME: `${cachePath}/gradle`,
  COMPOSER_CACHE_DIR: `${cachePath}/composer`,
};

/**
 * Without a network, retries only make commands wait: more than a minute with npm. Each first `npm test` would report
 * that npm was refused a look for a newer npm.
 */
const withoutNetwork = {
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
  YARN_HTTP_RETRY: '0',
  CARGO_NET_RETRY: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  // Otherwise uv would ask the index again about cached packages.
  UV_OFFLINE: '1',
  BUNDLE_RETRY: '0',
};

/**
 * Programs take a refused host for a network failure and repeat the request. One retry is left, for failures of allowed
 * hosts.
 */
const fewRetries = { CARGO_NET_RETRY: '1', PIP_RETRIES: '1' };

const networkEnvironment: Readonly<Record<SandboxSpec['network']['mode'], Readonly<Record<string, string>>>> = {
  'deny-all': withoutNetwork,
  restricted: fewRetries,
  public: fewRetries,
  'allow-all': {},
};

/** Set as `LC_CTYPE`. With `LANG` every program would read a dozen locale files at its start. */
export const utf8Locale = 'C.UTF-8';

/**
 * Returns resource limits in the order that the init expects. Without a control group, memory and processes can only be
 * limited per process and per user.
 */
export function toRlimits(limits: SandboxLimits, hasGroup: boolean): (number | undefined)[] {
  const { fileBytes, openFiles, processes, memoryBytes } = limits;
  return [undefined, fileBytes, openFiles, ...(hasGroup ? [] : [processes, memoryBytes])];
}

export function toSandboxEnvironment(
  { path, environment }: Toolchains,
  { cacheDirectory, network, personal }: SandboxSpec,
): Record<string, string> {
  return {
    ...environment,
    ...(cacheDirectory === undefined ? {} : cacheEnvironment),
    ...(personal && { ...networkEnvironment[network.mode], ...personal.environment }),
    PATH: path.join(':'),
    HOME: sandboxHome,
    // A sandbox may not write git hooks, so git must not copy its sample hooks into new repositories.
    GIT_TEMPLATE_DIR: '',
    USER: 'croft',
    LC_CTYPE: utf8Locale,
    TMPDIR: temporaryPath,
    TERM: 'dumb',
  };
}
