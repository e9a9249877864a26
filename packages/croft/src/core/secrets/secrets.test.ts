import { AppError } from '@croft/protocol';
import { expect, test } from 'vitest';
import { createSecrets, type SecretSource } from './secrets.ts';

/** Keys are `name` or `workspace/name`. */
function createSource(kind: SecretSource['kind'], values: Record<string, string>): SecretSource {
  const prefixOf = (workspace?: string) => (workspace === undefined ? '' : `${workspace}/`);
  const keysOf = (workspace?: string) => {
    const keys = Object.keys(values).filter((key) =>
      workspace === undefined ? !key.includes('/') : key.startsWith(`${workspace}/`),
    );
    return keys.map((key) => key.slice(prefixOf(workspace).length));
  };
  return {
    kind,
    scopes: () => [...new Set(Object.keys(values).flatMap((key) => key.match(/^(.*)\//)?.[1] ?? []))],
    names: keysOf,
    read(name, workspace) {
      const found = keysOf(workspace).find((each) => each.toLowerCase() === name.toLowerCase());
      return found === undefined ? undefined : values[prefixOf(workspace) + found];
    },
  };
}

function thrownBy(run: () => unknown): AppError {
  try {
    run();
  } catch (thrown) {
    return AppError.from(thrown);
  }
  throw new Error('nothing was thrown');
}

const fileValues: Record<string, string> = {
  GitHub_Token: 'file-token-1',
  'api-key': 'file-key-22',
  'shop/api-key': 'shop-key-333',
};
const env = createSource('env', { github_token: 'env-token-1', 'shop/db': 'shop-db-4444', 'other/db': 'other-db-555' });
const file = createSource('file', fileValues);
const secrets = createSecrets([env, file]);

test('names are sorted, each once, with the secrets of the workspace', () => {
  expect(secrets.names()).toEqual(['api-key', 'github_token']);
  expect(secrets.names('shop')).toEqual(['api-key', 'db', 'github_token']);
  expect(secrets.names('none')).toEqual(['api-key', 'github_token']);
  expect(createSecrets([file]).names()).toEqual(['GitHub_Token', 'api-key']);
});

test.each([
  ['github_token', undefined, 'env-token-1'],
  ['GITHUB_TOKEN', 'shop', 'env-token-1'],
  ['Api-Key', undefined, 'file-key-22'],
  ['api-key', 'shop', 'shop-key-333'],
  ['api-key', 'other', 'file-key-22'],
  ['db', 'shop', 'shop-db-4444'],
  ['db', 'other', 'other-db-555'],
])('%s of %s is %s', (name, workspace, value) => {
  expect(secrets.get(name, workspace)).toBe(value);
});

test.each(['', ' ', 'a b', '../x', 'a/b', 'a.b', 'ä', 'a\n', '$x'])('%j is refused as a name', (name) => {
  expect(thrownBy(() => secrets.get(name))).toMatchObject({
    code: 'E_INVALID_INPUT',
    message: `invalid secret name: ${name}`,
  });
});

test('an unknown name is answered with the known names', () => {
  expect(thrownBy(() => secrets.get('DB'))).toMatchObject({
    code: 'E_NOT_FOUND',
    message: 'unknown secret: db (available: api-key, github_token)',
  });
  expect(thrownBy(() => secrets.get('x', 'shop')).message).toBe(
    'unknown secret: x (available: api-key, db, github_token)',
  );
  expect(thrownBy(() => createSecrets([]).get('x')).message).toBe('unknown secret: x (available: )');
});

test('a command gets the secrets it names as variables', () => {
  expect(secrets.environment('shop', ['github_token', 'api-key'])).toEqual({
    GITHUB_TOKEN: 'env-token-1',
    API_KEY: 'shop-key-333',
  });
  expect(secrets.environment('shop', [])).toEqual({});
  expect(thrownBy(() => secrets.environment('shop', ['db', 'nope'])).code).toBe('E_NOT_FOUND');
});

test.each([
  ['token', 'TOKEN'],
  ['api-key', 'API_KEY'],
  ['path', 'SECRET_PATH'],
  ['ld_preload', 'SECRET_LD_PRELOAD'],
  ['1password', 'SECRET_1PASSWORD'],
])('%s becomes %s', (name, variable) => {
  const one = createSecrets([createSource('env', { [name]: 'x' })]);
  expect(one.find(undefined, name)).toEqual({ name, variable, value: 'x', source: 'env' });
});

test('a value with a NUL byte is refused as a variable', () => {
  const one = createSecrets([createSource('file', { key: 'a\0b' })]);
  expect(thrownBy(() => one.environment(undefined, ['key']))).toMatchObject({ code: 'E_INVALID_INPUT' });
});

test('the values of all workspaces are redacted, wherever they appear', () => {
  expect(secrets.redact('a env-token-1 b shop-key-333 c other-db-555')).toBe(
    'a [REDACTED:github_token] b [REDACTED:api-key] c [REDACTED:db]',
  );
});

test('a changed value is redacted, and so is its old value', () => {
  const values = { key: 'first-value-1' };
  const one = createSecrets([createSource('file', values)]);
  values.key = 'second-value-2';
  expect(one.get('key')).toBe('second-value-2');
  expect(one.redact('first-value-1 second-value-2')).toBe('[REDACTED:key] [REDACTED:key]');
});
