import { allowableNames } from './control-file-names.ts';

/** Control files that may be changed. */
export interface Allowance {
  /** Allowed by the operator by name, anywhere in the workspace: `.vscode`, `.git/hooks`. */
  readonly names?: readonly string[] | undefined;
  /** Allowed by a person for one call: exactly these root-relative paths, and everything below them. */
  readonly paths?: readonly string[] | undefined;
}

export function mergeAllowances(one: Allowance, other: Allowance = {}): Allowance {
  return {
    names: [...(one.names ?? []), ...(other.names ?? [])],
    paths: [...(one.paths ?? []), ...(other.paths ?? [])],
  };
}

/** Returns what is wrong with the names that an operator or an account wrote, or `undefined`. */
export function findNameProblem(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => !allowableNames.includes(name));
  return unknown === undefined
    ? undefined
    : `takes one of ${allowableNames.join(', ')}; not ${JSON.stringify(unknown)}`;
}
