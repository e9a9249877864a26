import { isObject } from './plain-json.ts';

/** What a reader sees instead of a secret, and what a writer sends to leave it as it is. */
export const masked = '********';

/** Parts of names, with `_` and `-` taken out. */
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
 * The value as it may be shown: every text and number below a name that says it is secret, or below `envVars`
 * whatever its name, is masked, and so is an address with a password in it.
 */
export function mask(value: unknown, isBelowSecret = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => mask(inner, isBelowSecret));
  if (!isObject(value)) return isSecret(value, isBelowSecret) ? masked : value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    mask(inner, isBelowSecret || hidesBelow(key, inner)),
  ]);
  return Object.fromEntries(entries);
}

/** Whether what this key holds is secret. `env` may be a word, such as of a stage, or the variables of a program. */
export function hidesBelow(key: string, value: unknown): boolean {
  const name = key.toLowerCase().replaceAll(/[-_ ]/g, '');
  return name === 'envvars' || (name === 'env' && isObject(value)) || secretParts.some((part) => name.includes(part));
}

function isSecret(value: unknown, isBelowSecret: boolean): boolean {
  if (typeof value === 'string') return isBelowSecret || /:\/\/[^/?#\s]*:[^/?#\s]*@/.test(value);
  return isBelowSecret && typeof value === 'number';
}
