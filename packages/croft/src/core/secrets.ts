import { AppError } from '@croft/protocol';
import { createRedactor } from '../lib/redact.ts';

/** Where secrets come from. Without a workspace: those that all workspaces share. */
export interface SecretSource {
  readonly kind: 'env' | 'file' | 'account';
  /** The workspaces that have secrets of their own. */
  scopes(): readonly string[];
  names(workspace?: string): readonly string[];
  read(name: string, workspace?: string): string | undefined;
}

export interface Secret {
  readonly name: string;
  /** The environment variable in which a command gets it. */
  readonly variable: string;
  readonly value: string;
  readonly source: SecretSource['kind'];
}

export type Secrets = ReturnType<typeof createSecrets>;

const validName = /^[A-Za-z0-9_-]+$/;
/** A variable that decides how programs run; a secret of that name must not take its place. */
const reservedVariable = /^(?:PATH|HOME|SHELL|USER|PWD|TERM|TMPDIR|LANG|IFS|ENV|(?:BASH|LC|LD)_.*)$/;
const maxKnown = 1000;

/**
 * The secrets of an installation. A name is looked up whatever its case, first among those of the workspace, then
 * among the shared; where sources have the same, the first source has it.
 */
export function createSecrets(sources: readonly SecretSource[]) {
  // Also those that have changed since: commands that were given the old value go on printing it.
  const known = new Map<string, string>();
  for (const source of sources) for (const scope of [undefined, ...source.scopes()]) rememberAll(source, scope);
  let redactKnown = createKnownRedactor();

  return {
    names,
    get: (name: string, workspace?: string): string => find(workspace, name).value,
    find,
    environment,
    /** Without the value of any secret of any workspace, and without tokens of known shapes. */
    redact: (text: string): string => redactKnown(text),
  };

  function names(workspace?: string): string[] {
    const found = new Map<string, string>();
    for (const { source, scope } of places(workspace))
      for (const name of source.names(scope)) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name);
    return [...found.values()].sort();
  }

  /** Throws `E_INVALID_INPUT` for what cannot be a name, `E_NOT_FOUND` for one that is not there. */
  function find(workspace: string | undefined, name: string): Secret {
    if (!validName.test(name)) throw new AppError('E_INVALID_INPUT', `invalid secret name: ${name}`);
    for (const { source, scope } of places(workspace)) {
      const value = source.read(name, scope);
      if (value === undefined) continue;
      remember(toLabel(name, scope), value);
      return { name, variable: toVariable(name), value, source: source.kind };
    }
    const available = names(workspace).join(', ');
    throw new AppError('E_NOT_FOUND', `unknown secret: ${name.toLowerCase()} (available: ${available})`);
  }

  /** The variables for one command. Throws for the first name that is not there or cannot be a variable. */
  function environment(workspace: string | undefined, wanted: readonly string[]): Record<string, string> {
    const secrets = wanted.map((name) => find(workspace, name));
    const binary = secrets.find(({ value }) => value.includes('\0'));
    if (binary)
      throw new AppError('E_INVALID_INPUT', `secret ${binary.name} has a NUL byte, which no variable can hold`);
    return Object.fromEntries(secrets.map(({ variable, value }) => [variable, value]));
  }

  function places(workspace: string | undefined) {
    const scopes = workspace === undefined ? [undefined] : [workspace, undefined];
    return scopes.flatMap((scope) => sources.map((source) => ({ source, scope })));
  }

  function remember(label: string, value: string): void {
    if (known.has(value)) return;
    known.set(value, label);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
    redactKnown = createKnownRedactor();
  }

  function rememberAll(source: SecretSource, scope: string | undefined): void {
    for (const name of source.names(scope)) known.set(source.read(name, scope) ?? '', toLabel(name, scope));
  }

  function createKnownRedactor() {
    return createRedactor(Array.from(known, ([value, label]) => [label, value] as const));
  }
}

function toLabel(name: string, scope: string | undefined): string {
  return scope === undefined ? name.toLowerCase() : `${scope}/${name.toLowerCase()}`;
}

function toVariable(name: string): string {
  const variable = name.toUpperCase().replaceAll('-', '_');
  return reservedVariable.test(variable) || /^\d/.test(variable) ? `SECRET_${variable}` : variable;
}

/** First in what a person is shown: that a command is given secrets is as much as what it does with them. */
export function renderSecrets(names: readonly string[]): string {
  return names.length === 0 ? '' : `with the secrets ${names.join(', ')}:\n`;
}
