import { join } from 'node:path';
import { readSettingsFile as read } from '../read-small-file.ts';
import { sandboxHome as insideHome, settingsPath } from '../sandbox-paths.ts';

interface RegistrySettings {
  readonly environment: Readonly<Record<string, string>>;
  readonly files: readonly { readonly content: string; readonly target: string }[];
}

interface SettingsOptions {
  readonly home: string;
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Variables that name package registries. */
const registryVariables = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST', 'UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL'],
  ...['UV_EXTRA_INDEX_URL', 'CARGO_REGISTRY_DEFAULT', 'npm_config_registry', 'NPM_CONFIG_REGISTRY'],
];
const goVariables = [
  'GOPROXY',
  'GOPRIVATE',
  'GONOPROXY',
  'GONOSUMDB',
  'GONOSUMCHECK',
  'GOSUMDB',
  'GOINSECURE',
  'GOVCS',
];

/**
 * Returns the registry settings of the operator's package managers, without credentials. Without these settings they
 * would use the public registries, where anybody may have taken the name of a private package.
 */
export function findRegistrySettings({ home, variables = {} }: SettingsOptions): RegistrySettings {
  const ofHome = (...names: string[]) => read(join(home, ...names));
  const npmrc = read(variables.npm_config_userconfig ?? variables.NPM_CONFIG_USERCONFIG ?? join(home, '.npmrc'));
  const pip = [read('/etc/pip.conf'), ofHome('.pip/pip.conf'), ofHome('.config/pip/pip.conf')].join('\n');
  const cargoHome = variables.CARGO_HOME ?? join(home, '.cargo');
  const cargo = read(join(cargoHome, 'config.toml')) || read(join(cargoHome, 'config'));
  const texts = [
    { content: toNpm(`${read('/etc/npmrc')}\n${npmrc}`), target: `${settingsPath}/npmrc` },
    { content: toPip(pip), target: `${settingsPath}/pip.conf` },
    // Cargo reads this file for every directory; settings of a project override it.
    { content: toCargo(cargo), target: '/.cargo/config.toml' },
    { content: toMaven(ofHome('.m2/settings.xml')), target: `${insideHome}/.m2/settings.xml` },
  ];
  const files = texts.filter(({ content }) => content !== '');
  const has = (name: string) => files.some(({ target }) => target === `${settingsPath}/${name}`);
  return {
    environment: {
      ...pickUrls(variables, registryVariables),
      ...pickUrls({ ...readAssignments(ofHome('.config/go/env')), ...variables }, goVariables),
      // The weakest settings files: those of a project override them, and agents may have their own.
      ...(has('npmrc') && { npm_config_globalconfig: `${settingsPath}/npmrc` }),
      ...(has('pip.conf') && { PIP_CONFIG_FILE: `${settingsPath}/pip.conf` }),
    },
    files,
  };
}

/**
 * Removes credentials from URLs: the user information up to the last @, and the query, which may hold tokens.
 * `https://user:pass@word@host/?token=x` becomes `https://host/`, also within a list. A token in the path stays,
 * because it looks like any other path.
 */
export function withoutCredentials(text: string): string {
  // Node, and so npm, also reads `https:user:pass@host` and `https:\\user:pass@host` as URLs.
  return text.replace(/([a-z][a-z0-9+.-]*:[/\\]*)[^\s/\\]*@/gi, '$1').replace(/(:[/\\]*[^\s?]*)\?[^\s"'<,|]*/g, '$1');
}

function toNpm(text: string): string {
  return tidy(text.split('\n').filter((line) => /^\s*(?:@[\w.~-]+:)?registry\s*=/.test(line)));
}

const pipKeys = /^(?:index-url|extra-index-url|trusted-host|no-index)$/;

/** Joins all sections into one, in which the last value of a key wins: pip rejects a file with duplicate keys. */
function toPip(text: string): string {
  const settings = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of text.split('\n')) {
    if (/^\s/.test(line)) {
      current?.push(line);
      continue;
    }
    const key = /^([\w-]+)\s*[=:]/.exec(line)?.[1]?.toLowerCase().replaceAll('_', '-') ?? '';
    current = pipKeys.test(key) ? [line] : undefined;
    if (current) settings.set(key, current);
  }
  const settingsText = tidy([...settings.values()].flat());
  return settingsText === '' ? '' : `[global]\n${settingsText}`;
}

/** Keeps only these keys of the sections on sources and registries. */
function toCargo(text: string): string {
  let isWanted = false;
  const lines = text.split('\n').filter((line) => {
    const section = /^\s*\[+\s*([^\]]*?)\s*\]+/.exec(line)?.[1];
    if (section !== undefined) isWanted = /^(?:source\.|registries\.|registry$)/.test(section);
    if (section !== undefined) return isWanted;
    return isWanted && /^\s*(?:replace-with|registry|index|default|protocol|directory|local-registry)\s*=/.test(line);
  });
  return tidy(lines);
}

/**
 * Keeps only mirrors, because servers have passwords. A mirror whose URL uses character codes or variables is left out.
 */
function toMaven(text: string): string {
  const plain = text.replace(/<!--[\s\S]*?-->/g, '');
  const mirrors = [...plain.matchAll(/<mirror>([\s\S]*?)<\/mirror>/g)].flatMap(([, body = '']) => {
    const fields = [...body.matchAll(/<(id|name|url|mirrorOf|blocked|layout)>([^<]*)<\/\1>/g)];
    const mirrorFields = fields.map(([field]) => withoutCredentials(field)).join('');
    return /\$\{|&#/.test(mirrorFields) ? [] : [`<mirror>${mirrorFields}</mirror>`];
  });
  return mirrors.length === 0 ? '' : `<settings><mirrors>\n${mirrors.join('\n')}\n</mirrors></settings>\n`;
}

/**
 * Removes comments, credentials and lines that refer to a variable: it would be unset in the sandbox, and is most often
 * a password.
 */
function tidy(lines: readonly string[]): string {
  const cleanLines = lines
    .map((line) => withoutCredentials(line.replace(/\s+[#;].*$/, '')))
    .filter((line) => line.trim() !== '' && !line.includes('${'));
  return cleanLines.length === 0 ? '' : `${cleanLines.join('\n')}\n`;
}

function pickUrls(
  variables: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, withoutCredentials(value)] as const];
  });
  return Object.fromEntries(found);
}

function readAssignments(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^([A-Z]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}
