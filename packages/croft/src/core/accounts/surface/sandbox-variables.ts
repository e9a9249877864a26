import { AppError } from '@croft/protocol';
import { fillSecrets, secretsNamedIn } from '../../secrets/secret-references.ts';
import type { SandboxConfig } from '../ports/registry.ts';
import type { SandboxRecord } from './resolve-surface.ts';

/**
 * Fills `${secret:NAME}` in the variables of a sandbox with the account's secrets. Only such values are secret:
 * `NODE_ENV=production` is not, and is shown as it is.
 */
export function withSecretVariables(sandbox: SandboxRecord, secrets: ReadonlyMap<string, string>): SandboxRecord {
  const { envVars } = sandbox.config;
  if (!envVars) return sandbox;
  const byName = new Map(Array.from(secrets, ([name, value]) => [name.toLowerCase(), value]));
  const filled = Object.entries(envVars).map(([name, value]) => [
    name,
    fillSecrets(value, (wanted) => byName.get(wanted.toLowerCase())),
  ]);
  const secretNames = Object.values(envVars).flatMap(secretsNamedIn);
  return { ...sandbox, secretNames, config: { ...sandbox.config, envVars: Object.fromEntries(filled) } };
}

/**
 * Returns the environment variables of its commands. Throws for a missing secret: a program would take the unfilled
 * reference for the secret.
 */
export function variablesOf({ envVars = {} }: SandboxConfig): Readonly<Record<string, string>> {
  for (const [variable, value] of Object.entries(envVars)) {
    const [name] = secretsNamedIn(value);
    if (name === undefined) continue;
    throw new AppError(
      'E_NOT_FOUND',
      `the variable ${variable} of the sandbox asks for the secret ${name}, which the account does not have; store it with PUT /v1/secrets/${name}`,
      { details: { variable, secret: name } },
    );
  }
  return envVars;
}
