import { AppError } from '@croft/protocol';
import { createSecretMarker, type SecretMarker } from '../../lib/redaction/redact.ts';
import { createByteRedactionStream } from '../../lib/redaction/redact-bytes.ts';
import { createRedactionStream } from '../../lib/redaction/redaction-stream.ts';

/** Port to a source of secrets. Without a workspace: the secrets that all workspaces share. */
export interface SecretSource {
  readonly kind: 'env' | 'file' | 'account';
  /** Names of the workspaces that have secrets of their own. */
  scopes(): readonly string[];
  names(workspace?: string): readonly string[];
  read(name: string, workspace?: string): string | undefined;
}

interface Secret {
  readonly name: string;
  /** Name of the environment variable that holds it in a command. */
  readonly variable: string;
  readonly value: string;
  readonly source: SecretSource['kind'];
}

export type Secrets = ReturnType<typeof createSecrets>;

const validName = /^[A-Za-z0-9_-]+$/;
/** Variables that decide how programs run. A secret of such a name gets the prefix `SECRET_`. */
const reservedVariable = /^(?:PATH|HOME|SHELL|USER|PWD|TERM|TMPDIR|LANG|IFS|ENV|(?:BASH|LC|LD)_.*)$/;
const maxKnown = 1000;

/**
 * The secrets of an installation. Names are case-insensitive. A lookup tries the secrets of the workspace before the
 * shared ones; within each, the first source that has the name wins.
 */
export function createSecrets(
  sources: readonly SecretSource[],
  earlier?: { readonly known: ReadonlyMap<string, string> },
) {
  // Includes former values: commands that were given an old value may still print it.
  const known = new Map<string, string>(earlier?.known);
  for (const source of sources) for (const scope of [undefined, ...source.scopes()]) rememberAll(source, scope);
  let marker = createKnownMarker();

  return {
    /** Every current and former value with its name, for the `createSecrets` that replaces this one. */
    known: known as ReadonlyMap<string, string>,
    names,
    get: (name: string, workspace?: string): string => find(workspace, name).value,
    find,
    environment,
    /** Removes the values of all secrets of all workspaces, and tokens of known formats. */
    redact: (text: string): string => marker.redact(text),
    /** Redacts a text that arrives in pieces. The result is the same as for the whole text. */
    redactStream: () => createRedactionStream(() => marker.finder),
    /** Passes on bytes as they are, with marks in place of the secrets in them. */
    redactByteStream: () => createByteRedactionStream(() => marker.finder),
    /** Recognises the marks that `redact` inserts, in a text that somebody writes back. */
    marks: {
      findMarks: (text: string) => marker.findMarks(text),
      show: (text: string) => marker.redactReversibly(text),
    },
  };

  function names(workspace?: string): string[] {
    const found = new Map<string, string>();
    for (const { source, scope } of lookupOrder(workspace))
      for (const name of source.names(scope)) if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name);
    return [...found.values()].sort();
  }

  /** Throws `E_INVALID_INPUT` for an invalid name, `E_NOT_FOUND` for a missing secret. */
  function find(workspace: string | undefined, name: string): Secret {
    if (!validName.test(name)) throw new AppError('E_INVALID_INPUT', `invalid secret name: ${name}`);
    for (const { source, scope } of lookupOrder(workspace)) {
      const value = source.read(name, scope);
      if (value === undefined) continue;
      remember(name.toLowerCase(), value);
      return { name, variable: toVariable(name), value, source: source.kind };
    }
    const available = names(workspace).join(', ');
    throw new AppError('E_NOT_FOUND', `unknown secret: ${name.toLowerCase()} (available: ${available})`);
  }

  /**
   * Returns the environment variables for one command. Throws for the first secret that is missing or cannot be a
   * variable.
   */
  function environment(workspace: string | undefined, wanted: readonly string[]): Record<string, string> {
    return toEnvironment(wanted.map((name) => find(workspace, name)));
  }

  function lookupOrder(workspace: string | undefined) {
    const scopes = workspace === undefined ? [undefined] : [workspace, undefined];
    return scopes.flatMap((scope) => sources.map((source) => ({ source, scope })));
  }

  function remember(label: string, value: string): void {
    if (known.has(value)) return;
    known.set(value, label);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
    marker = createKnownMarker();
  }

  function rememberAll(source: SecretSource, scope: string | undefined): void {
    for (const name of source.names(scope)) known.set(source.read(name, scope) ?? '', name.toLowerCase());
  }

  function createKnownMarker(): SecretMarker {
    return createSecretMarker(Array.from(known, ([value, label]) => [label, value] as const));
  }
}

function toEnvironment(secrets: readonly Secret[]): Record<string, string> {
  const binary = secrets.find(({ value }) => value.includes('\0'));
  if (binary) throw isBinary(binary.name);
  return Object.fromEntries(secrets.map(({ variable, value }) => [variable, value]));
}

function isBinary(name: string): AppError {
  return new AppError('E_INVALID_INPUT', `secret ${name} has a NUL byte, which no variable can hold`, {
    hint: 'Nothing ran. Ask the operator to store the secret as text, or leave it out.',
  });
}

function toVariable(name: string): string {
  const variable = name.toUpperCase().replaceAll('-', '_');
  return reservedVariable.test(variable) || /^\d/.test(variable) ? `SECRET_${variable}` : variable;
}

/** Wraps `Secrets`: records in `given` the names of the secrets that a session's programs receive. */
export function recordGivenSecrets({ given }: { readonly given: Set<string> }, secrets: Secrets): Secrets {
  return {
    ...secrets,
    environment(workspace, wanted) {
      const variables = secrets.environment(workspace, wanted);
      for (const name of wanted) given.add(name.toLowerCase());
      return variables;
    },
  };
}

/**
 * Renders the names of the secrets that a command gets, at the top of an approval's preview: they matter as much as the
 * command.
 */
export function renderSecrets(names: readonly string[]): string {
  return names.length === 0 ? '' : `with the secrets ${names.join(', ')}:\n`;
}
