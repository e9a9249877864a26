import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { belowRoot, toSegments } from './workspace-path.ts';

const root = '/home/me/work';

describe('the names along a path', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['.', []],
    ['./', []],
    ['a', ['a']],
    ['a/b/c.txt', ['a', 'b', 'c.txt']],
    ['./a//b/./c/', ['a', 'b', 'c']],
    ['a/../b', ['b']],
    ['a/b/../../c', ['c']],
    ['a/..', []],
    ['link/../a', ['a']],
    ['..hidden', ['..hidden']],
    ['a/..hidden/b', ['a', '..hidden', 'b']],
    ['...', ['...']],
    ['a/.../b', ['a', '...', 'b']],
    ['.. ', ['.. ']],
    [' ..', [' ..']],
    ['%2e%2e/%2fetc', ['%2e%2e', '%2fetc']],
    ['..\\..\\etc', ['..\\..\\etc']],
    ['~/a', ['~', 'a']],
    ['-rf', ['-rf']],
    ['line\nbreak', ['line\nbreak']],
    ['\uff0e\uff0e/a', ['\uff0e\uff0e', 'a']],
    ['a\u2215b', ['a\u2215b']],
    ['file:///etc/passwd', ['file:', 'etc', 'passwd']],
    [root, []],
    [`${root}/`, []],
    [`${root}/a.txt`, ['a.txt']],
    [`${root}/a/../b`, ['b']],
    [`//home//me/./work///a`, ['a']],
    [`${root}/../work/a`, ['a']],
    ['/../home/me/work/a', ['a']],
    [`${root}/${root}`, ['home', 'me', 'work']],
  ])('%j has the names %j', (path, names) => {
    expect(toSegments(path, [root])).toEqual(names);
  });

  test.each(['x'.repeat(255), 'é'.repeat(127), `${'d/'.repeat(2047)}f`, '😀'.repeat(63)])(
    'each may be as long as the kernel allows (case %#)',
    (path) => {
      expect(toSegments(path, [root]).join('/')).toBe(path);
    },
  );
});

describe('a path that leaves the workspace root', () => {
  test.each([
    '..',
    '../',
    './..',
    '../x',
    'a/../..',
    'a/../../work/a',
    'a/b/../../../etc/passwd',
    'a//..//..//b',
    '/',
    '//',
    '/etc/passwd',
    '//etc/passwd',
    '/..',
    '/proc/self/root/home/me/work/a',
    '/home',
    '/home/me',
    `${root}/..`,
    `${root}/../other`,
    `${root}-evil/secret`,
    `${root}evil`,
    `${root}.`,
    `${root}\\..`,
    '/home/me/wor',
    '/HOME/me/work',
    `${root}/a/../../../me/work-evil`,
  ])('is refused: %j', (path) => {
    expect(() => toSegments(path, [root])).toThrow(
      expect.objectContaining({
        code: 'E_SANDBOX_VIOLATION',
        message: `path is outside workspace root: ${path}`,
        details: expect.objectContaining({ path }),
      }),
    );
  });
});

describe('a path that no file system accepts', () => {
  test.each(['\0', 'a\0', 'a\0/../../etc/passwd', `${root}/a\0.txt`, '/etc/passwd\0.txt'])(
    'is refused for its NUL byte: %j',
    (path) => {
      expect(() => toSegments(path, [root])).toThrow(expect.objectContaining({ code: 'E_INVALID_PATH' }));
    },
  );

  test.each([
    'x'.repeat(256),
    'é'.repeat(128),
    '😀'.repeat(64),
    `a/${'x'.repeat(256)}/b`,
    `${root}/${'x'.repeat(256)}`,
    'd/'.repeat(2049),
    'x'.repeat(100_000),
  ])('is refused for its length (case %#)', (path) => {
    expect(() => toSegments(path, [root])).toThrow(expect.objectContaining({ code: 'E_NAME_TOO_LONG' }));
  });

  test.each(['\ud800', 'a\udc00b', `${root}/\udfff\ud800`])(
    'is refused for half of a surrogate pair, which would name another file on the disk: %j',
    (path) => {
      expect(() => toSegments(path, [root])).toThrow(expect.objectContaining({ code: 'E_INVALID_PATH' }));
    },
  );
});

describe('the path relative to the root', () => {
  test.each<[string, string[], string | undefined]>([
    ['/work', ['/work'], ''],
    ['/work/', ['/work'], ''],
    ['/work/a/b', ['/work'], 'a/b'],
    ['/work/./a//b/', ['/work'], 'a/b'],
    ['/work/..', ['/work'], undefined],
    ['/work-evil', ['/work'], undefined],
    ['/work-evil/work', ['/work'], undefined],
    ['/other/work/a', ['/work'], undefined],
    ['/', ['/work'], undefined],
    ['/a', [], undefined],
    ['/virtual/a', ['/work', '/virtual'], 'a'],
    ['/work/a', ['/work', '/work/a'], 'a'],
    ['/etc/passwd', ['/'], 'etc/passwd'],
    ['/../etc', ['/'], 'etc'],
    ['/', ['/'], ''],
  ])('for %j below %j is %j', (path, roots, rest) => {
    expect(belowRoot(path, roots)).toBe(rest);
  });
});

describe('for any path', () => {
  const name = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'work', 'work-evil', 'home', 'me', '..hidden', '...') },
    { weight: 4, arbitrary: fc.constantFrom('..', '.', '') },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll('\0', '')) },
  );
  const relative = fc.array(name, { maxLength: 12 }).map((names) => names.join('/'));
  const path = fc.oneof(
    relative,
    relative.map((rest) => `/${rest}`),
    relative.map((rest) => `${root}/${rest}`),
    relative.map((rest) => `${root}${rest}`),
  );

  test('the names are plain: no dots that climb or stay, no slash', () => {
    fc.assert(
      fc.property(path, (written) => {
        for (const segment of attempt(written) ?? []) expect(segment).not.toMatch(/^\.{0,2}$|\/|\0/);
      }),
      { numRuns: 2000 },
    );
  });

  test('the path is accepted exactly if its normal form is below the root, with the names of that form', () => {
    fc.assert(
      fc.property(path, (written) => {
        expect(attempt(written)).toEqual(plainNames(written));
      }),
      { numRuns: 3000 },
    );
  });

  test('the normal form names the same file', () => {
    fc.assert(
      fc.property(path, (written) => {
        const names = attempt(written);
        if (!names) return;
        expect(toSegments(names.join('/'), [root])).toEqual(names);
        expect(toSegments([root, ...names].join('/'), [root])).toEqual(names);
      }),
      { numRuns: 2000 },
    );
  });

  test('any text gives names or a typed error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        attempt(text);
        attempt(`${root}/${text}`);
      }),
    );
  });
});

/** `undefined` for a path that was refused as it must be. */
function attempt(path: string): string[] | undefined {
  try {
    return toSegments(path, [root]);
  } catch (thrown) {
    expect(thrown).toMatchObject({ name: 'AppError', code: expect.stringMatching(/^E_(SANDBOX|INVALID|NAME)_/) });
    return undefined;
  }
}

/** The result of Node's path module, or `undefined` for a path outside. */
function plainNames(path: string): string[] | undefined {
  const plain = posix.isAbsolute(path) ? posix.relative(root, posix.resolve(path)) : posix.normalize(path);
  if (plain === '..' || plain.startsWith('../')) return undefined;
  return plain.split('/').filter((name) => name !== '' && name !== '.');
}
