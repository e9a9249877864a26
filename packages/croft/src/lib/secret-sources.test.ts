import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createSecretDirectorySource, createSecretEnvironmentSource } from './secret-sources.ts';

describe('secrets in the environment', () => {
  const environment: Record<string, string | undefined> = {
    CROFT_SECRET_GITHUB_TOKEN: 'shared',
    CROFT_SECRET_Mixed: 'mixed',
    CROFT_SECRET_MY_APP__GITHUB_TOKEN: 'mine',
    CROFT_SECRET_MY_APP__DB__PW: 'deep',
    CROFT_SECRET_: 'nameless',
    'CROFT_SECRET_A B': 'bad name',
    CROFT_SECRET___LEADING: 'leading',
    CROFT_SECRET_TRAILING__: 'trailing',
    CROFT_SECRET_GONE: undefined,
    OTHER: 'other',
  };
  const source = createSecretEnvironmentSource(environment);

  test('have lower-case names, grouped by workspace', () => {
    expect(source.names().sort()).toEqual(['__leading', 'github_token', 'mixed', 'trailing__']);
    expect(source.names('my_app')).toEqual(['github_token', 'db__pw']);
    expect(source.names('other')).toEqual([]);
    expect(source.scopes()).toEqual(['my_app']);
  });

  test.each([
    ['github_token', undefined, 'shared'],
    ['GitHub_Token', undefined, 'shared'],
    ['github_token', 'my_app', 'mine'],
    ['github_token', 'my-app', 'mine'],
    ['github_token', 'My App', 'mine'],
    ['DB__pw', 'my_app', 'deep'],
    ['mixed', 'my_app', undefined],
    ['github_token', 'other', undefined],
    ['github_token', '', 'shared'],
    ['my_app__github_token', undefined, undefined],
    ['gone', undefined, undefined],
    ['constructor', undefined, undefined],
    ['__proto__', undefined, undefined],
  ])('%s of %s is %s', (name, workspace, value) => {
    expect(source.read(name, workspace)).toBe(value);
  });

  test('are read once', () => {
    environment.CROFT_SECRET_MIXED = 'changed';
    environment.CROFT_SECRET_LATE = 'late';
    expect(source.read('mixed')).toBe('mixed');
    expect(source.read('late')).toBeUndefined();
  });
});

function makeDirectory(files: Record<string, string>) {
  const root = mkdtempSync(join(tmpdir(), 'croft-secrets-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return {
    root,
    at: (path: string) => join(root, path),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

describe('secrets in a directory', () => {
  test('are regular files with a valid name, grouped by workspace', () => {
    using files = makeDirectory({
      token: 'a',
      GitHub_Token: 'b',
      '.hidden': 'c',
      'tls.crt': 'd',
      'a b': 'e',
      'my-app/token': 'f',
      'my-app/deep/token': 'g',
      '.git/config': 'h',
    });
    const source = createSecretDirectorySource(files.root);
    expect(source.names()).toEqual(['GitHub_Token', 'token']);
    expect(source.names('my-app')).toEqual(['token']);
    expect(source.names('other')).toEqual([]);
    expect(source.scopes()).toEqual(['my-app']);
    expect(source.read('token', 'my-app')).toBe('f');
    expect(source.read('token', 'other')).toBeUndefined();
    expect(source.read('.hidden')).toBeUndefined();
    expect(source.read('my-app')).toBeUndefined();
  });

  test('are found in any case, and exactly if possible', () => {
    using files = makeDirectory({ GitHub_Token: 'mixed', TOKEN: 'upper', token: 'lower' });
    const source = createSecretDirectorySource(files.root);
    expect(source.read('github_token')).toBe('mixed');
    expect(source.read('GITHUB_TOKEN')).toBe('mixed');
    expect(source.read('token')).toBe('lower');
    expect(source.read('TOKEN')).toBe('upper');
  });

  test.each([
    ['a', 'a'],
    ['a\n', 'a'],
    ['a\n\n\n', 'a'],
    ['a\r\n', 'a'],
    ['\na b\n c \n', '\na b\n c '],
    ['', ''],
    ['\n', ''],
    ['é\n', 'é'],
    ['a\r', 'a\r'],
  ])('%j has the value %j', (text, value) => {
    using files = makeDirectory({ secret: text });
    expect(createSecretDirectorySource(files.root).read('secret')).toBe(value);
  });

  test('are read again each time', () => {
    using files = makeDirectory({ a: '1' });
    const source = createSecretDirectorySource(files.root);
    expect(source.read('a')).toBe('1');
    writeFileSync(files.at('a'), '2');
    writeFileSync(files.at('b'), '3');
    expect(source.read('a')).toBe('2');
    expect(source.names()).toEqual(['a', 'b']);
    rmSync(files.at('a'));
    expect(source.read('a')).toBeUndefined();
  });

  test('are ignored over 64 kB', () => {
    using files = makeDirectory({ fits: 'x'.repeat(64 * 1024), large: 'x'.repeat(64 * 1024 + 1) });
    const source = createSecretDirectorySource(files.root);
    expect(source.names()).toEqual(['fits']);
    expect(source.read('fits')).toHaveLength(64 * 1024);
    expect(source.read('large')).toBeUndefined();
  });

  test('may be links that stay inside', () => {
    using outside = makeDirectory({ secret: 'outside' });
    using files = makeDirectory({ '..data/token': 'inside' });
    symlinkSync('..data/token', files.at('token'));
    symlinkSync(outside.at('secret'), files.at('escape'));
    symlinkSync(outside.root, files.at('other-workspace'));
    symlinkSync('nowhere', files.at('dangling'));
    symlinkSync('loop', files.at('loop'));
    symlinkSync('..data', files.at('folder'));
    const source = createSecretDirectorySource(files.root);
    expect(source.names()).toEqual(['token']);
    expect(source.read('token')).toBe('inside');
    expect(source.read('escape')).toBeUndefined();
    expect(source.names('other-workspace')).toEqual([]);
    expect(source.read('secret', 'other-workspace')).toBeUndefined();
  });

  test.each(['..', '.', '../x', '/etc', 'a/b', '', '.hidden', 'nul\0'])(
    'of the workspace %j are not found elsewhere',
    (workspace) => {
      using files = makeDirectory({ 'inner/token': 'x', '.hidden/token': 'y', 'inner/a/b/token': 'z', x: '1' });
      const source = createSecretDirectorySource(files.at('inner'));
      expect(source.names(workspace)).toEqual(workspace === '' ? ['token'] : []);
    },
  );

  test('do not block on a named pipe', () => {
    using files = makeDirectory({ a: '1' });
    execFileSync('mkfifo', [files.at('pipe')]);
    const source = createSecretDirectorySource(files.root);
    expect(source.names()).toEqual(['a']);
    expect(source.read('pipe')).toBeUndefined();
  });

  test.skipIf(process.getuid?.() === 0)('are found beside a file that may not be read', () => {
    using files = makeDirectory({ a: '1', b: '2' });
    chmodSync(files.at('a'), 0);
    expect(createSecretDirectorySource(files.root).names()).toEqual(['b']);
  });

  test('are none if the directory is missing', () => {
    const source = createSecretDirectorySource('/nonexistent/secrets');
    expect(source.names()).toEqual([]);
    expect(source.scopes()).toEqual([]);
    expect(source.read('a')).toBeUndefined();
  });
});
