import { isObject } from './check-json.ts';

/** Shown to a reader instead of a secret. A writer sends it to keep the stored value. */
export const maskedValue = '********';

/** Parts of key names that mean a secret, compared without `_` and `-`. */
const secretParts = [
  'secret',
  'token',
  'privatekey',
  'credential',
  'kubeconfig',
  'certificate',
  'accesskey',
  'password',
  'passwd',
  'passphrase',
  'apikey',
  'authorization',
  'connectionstring',
];

/**
 * Masks secrets in a value: every text and number below a key whose name says it is secret, everything below `envVars`,
 * and addresses that contain a password.
 */
export function maskSecrets(value: unknown, isBelowSecret = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => maskSecrets(inner, isBelowSecret));
  if (!isObject(value)) return isSecret(value, isBelowSecret) ? maskedValue : value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    maskSecrets(inner, isBelowSecret || holdsSecret(key, inner)),
  ]);
  return Object.fromEntries(entries);
}

/**
 * Whether the value of this key is secret. `env` may be a word, such as the name of a stage, or the variables of a
 * program.
 */
export function holdsSecret(key: string, value: unknown): boolean {
  const name = key.toLowerCase().replaceAll(/[-_ ]/g, '');
  return name === 'envvars' || (name === 'env' && isObject(value)) || secretParts.some((part) => name.includes(part));
}

function isSecret(value: unknown, isBelowSecret: boolean): boolean {
  if (typeof value === 'string') return isBelowSecret || /:\/\/[^/?#\s]*:[^/?#\s]*@/.test(value);
  return isBelowSecret && typeof value === 'number';
}
