import type { Surface } from '../core/accounts/cascade.ts';
import type { SecretSource } from '../core/secrets.ts';

/** The secrets of an account, which a call may be given by name. */
export function createAccountSource(secrets: ReadonlyMap<string, string>, surface: Surface): SecretSource {
  const byName = new Map(Array.from(secrets, ([name, value]) => [name.toLowerCase(), value]));
  const variables = variablesOf(surface);
  return {
    kind: 'account',
    // Variables of a sandbox are no secrets to ask for, but as little to be shown.
    scopes: () => [...variables.keys()],
    names: (scope) => (scope === undefined ? [...secrets.keys()] : [...(variables.get(scope)?.keys() ?? [])]),
    read: (name, scope) => (scope === undefined ? byName.get(name.toLowerCase()) : variables.get(scope)?.get(name)),
  };
}

/** Under a name that no workspace can have. */
function variablesOf({ workspaces, stateless }: Surface): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const sandboxes = [...workspaces.map(({ sandbox }) => sandbox), stateless].filter((sandbox) => sandbox !== undefined);
  return new Map(sandboxes.map(({ id, config }) => [`#${id}`, new Map(Object.entries(config.envVars ?? {}))]));
}
