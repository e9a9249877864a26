import type { SecretSource } from '../../core/secrets/secrets.ts';

/** The secrets of an account. A call may ask for them by name. */
export function createAccountSecrets(secrets: ReadonlyMap<string, string>): SecretSource {
  const byName = new Map(Array.from(secrets, ([name, value]) => [name.toLowerCase(), value]));
  return {
    kind: 'account',
    scopes: () => [],
    names: (scope) => (scope === undefined ? [...secrets.keys()] : []),
    read: (name, scope) => (scope === undefined ? byName.get(name.toLowerCase()) : undefined),
  };
}
