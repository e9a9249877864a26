import type { SandboxSpec } from '../../core/commands/sandbox.ts';
import { canRead, type Owner, realpathOrSelf } from '../../lib/files/workspace-owner.ts';
import { visibleEtcEntries } from '../etc-copy.ts';
import { systemDirectories } from '../sandbox-paths.ts';
import { findCertificates, type HostFileMount } from './certificates.ts';
import { findToolchains, isBelow, limitToReachable, type Toolchains } from './toolchains.ts';

export interface HostToolsOptions {
  /** The operator's PATH, to find toolchains. */
  readonly path: string;
  readonly home: string;
  /** The environment variables of the croft process. Default: none. */
  readonly variables?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Programs, variables and files of this machine that commands can use. */
export interface HostTools extends Toolchains {
  readonly files: readonly HostFileMount[];
}

/** Variables that name the directory of a toolchain. They are passed on only if that directory is visible. */
const toolchainVariables = [
  ...['JAVA_HOME', 'GOROOT', 'DOTNET_ROOT', 'MAVEN_HOME', 'M2_HOME', 'GRADLE_HOME'],
  ...['ANDROID_HOME', 'ANDROID_SDK_ROOT'],
];

/** Searches once for each set of readable directories, because the operator's PATH does not change while croft runs. */
export function createHostTools({ path, home, variables = {} }: HostToolsOptions) {
  const known = new Map<string, HostTools>();
  return (readable: SandboxSpec['readable'], owner: Owner | undefined): HostTools => {
    const key = JSON.stringify(readable);
    const tools = known.get(key) ?? findTools(findToolchains(path, home, readable), readable, variables);
    known.set(key, tools);
    return limitTo(tools, owner);
  };
}

function findTools(
  toolchains: Toolchains,
  readable: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): HostTools {
  const visible = [...systemDirectories, ...visibleEtcEntries.values(), ...toolchains.directories, ...readable];
  const isVisible = (path: string) => visible.some((directory) => isBelow(path, directory));
  const named = toolchainVariables.flatMap((name) => {
    const directory = variables[name];
    return directory !== undefined && isVisible(directory) ? [[name, directory]] : [];
  });
  const certificates = findCertificates(variables, isVisible);
  return {
    ...toolchains,
    environment: { ...toolchains.environment, ...Object.fromEntries(named), ...certificates.environment },
    files: certificates.files,
  };
}

/** Removes files that the owner of a workspace cannot read, and the variables that name them. */
function limitTo(tools: HostTools, owner: Owner | undefined): HostTools {
  const { directories, path, environment } = limitToReachable(tools, owner);
  const files = tools.files.filter(({ source }) => !owner || canRead(realpathOrSelf(source), owner));
  const hidden = new Set(tools.files.filter((file) => !files.includes(file)).map(({ target }) => target));
  const readable = Object.entries(environment).filter(([, value]) => !hidden.has(value));
  return { directories, path, environment: Object.fromEntries(readable), files };
}
