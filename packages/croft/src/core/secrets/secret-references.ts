const reference = /\$\{secret:([A-Za-z0-9._-]+)\}/g;

/**
 * Replaces every `${secret:NAME}` by the value of that secret. Leaves a reference that `find` does not know as it is.
 */
export function fillSecrets(text: string, find: (name: string) => string | undefined): string {
  return text.replaceAll(reference, (whole, name: string) => find(name) ?? whole);
}

/** Returns the names of the secrets that a text refers to. */
export function secretsNamedIn(text: string): string[] {
  return Array.from(text.matchAll(reference), ([, name = '']) => name);
}
