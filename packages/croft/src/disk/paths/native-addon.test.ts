import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants as system } from 'node:os';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import { addon } from './native-addon.ts';

if (!addon) throw new Error('set-up has not compiled the file system addon');
const { open, reopen } = addon;

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const { EEXIST, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, EXDEV, EBADF } = system.errno;
const O_PATH = 0o10000000;
const held = O_PATH | O_NOFOLLOW;

let fixture: ReturnType<typeof makeDirectory>;
let directory: number;

beforeEach(() => {
  fixture = makeDirectory({ 'outside.txt': 'outside', 'work/a/b/c.txt': 'inside' });
  directory = openSync(fixture.at('work'), O_DIRECTORY);
  return () => {
    closeSync(directory);
    fixture[Symbol.dispose]();
  };
});

/** Returns the path behind a handle and closes the handle. */
function use<T>(handle: number, run: (handle: number) => T): T {
  expect(handle).toBeGreaterThanOrEqual(0);
  try {
    return run(handle);
  } finally {
    closeSync(handle);
  }
}

describe('open', () => {
  test('resolves a whole path at once', () => {
    expect(use(open(directory, 'a/b/c.txt', O_RDONLY, 0), (file) => readFileSync(file, 'utf8'))).toBe('inside');
    expect(open(directory, 'a/x/c.txt', O_RDONLY, 0)).toBe(-ENOENT);
    expect(open(directory, 'a/b/c.txt/d', O_RDONLY, 0)).toBe(-ENOTDIR);
    for (const length of [4096, 4097, 5000])
      expect(open(directory, 'a/'.repeat(length).slice(0, length), O_RDONLY, 0)).toBe(-ENAMETOOLONG);
    // The name would fit if it were cut between two characters.
    expect(open(directory, `./${'/'.repeat(4092)}ä`, O_PATH, 0)).toBe(-ENAMETOOLONG);
  });

  test.each(['../outside.txt', 'a/../../outside.txt', '/etc/hostname', '/'])(
    'refuses to leave the directory by %s',
    (path) => {
      expect(open(directory, path, O_RDONLY, 0)).toBe(-EXDEV);
      expect(open(directory, path, O_WRONLY | O_CREAT, 0o600)).toBe(-EXDEV);
    },
  );

  test('follows no link, wherever it leads', () => {
    symlinkSync('..', fixture.at('work/up'));
    symlinkSync('a', fixture.at('work/in'));
    symlinkSync('/proc/self/root', fixture.at('work/a/magic'));
    for (const path of ['up/outside.txt', 'in/b/c.txt', 'a/magic/etc', 'in', `a/../up`])
      expect(open(directory, path, O_RDONLY, 0)).toBe(-ELOOP);
    expect(open(directory, 'in', held | O_DIRECTORY, 0)).toBe(-ENOTDIR);
    expect(use(open(directory, 'in', held, 0), (link) => fstatSync(link).isSymbolicLink())).toBe(true);
  });

  test('creates a file with its mode, and only if none exists', () => {
    const make = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    expect(use(open(directory, 'größe', make, 0o640), (file) => fstatSync(file).mode & 0o777)).toBe(0o640);
    expect(open(directory, 'größe', make, 0o640)).toBe(-EEXIST);
    symlinkSync('../planted', fixture.at('work/link'));
    expect(open(directory, 'link', make, 0o600)).toBe(-EEXIST);
  });

  test('closes its handle in child processes', () => {
    use(open(directory, 'a', O_PATH, 0), (handle) => {
      const flags = readFileSync(`/proc/self/fdinfo/${handle}`, 'utf8');
      expect(Number.parseInt(/flags:\s+(\d+)/.exec(flags)?.[1] ?? '', 8) & 0o2000000).not.toBe(0);
    });
  });

  test('refuses arguments of the wrong type', () => {
    const call = open as (...args: unknown[]) => unknown;
    const wrong = [[], ['1', 'a', 0, 0], [1, '', 0, 0], [1, 'a\0b', 0, 0]];
    for (const args of [...wrong, [1, 'a', '0', 0], [1, 'a', 0, 'x'], [1, 2, 0, 0]])
      expect(() => call(...args)).toThrow(TypeError);
  });
});

describe('reopen', () => {
  test('opens the file behind the handle, whatever is found at its path now', () => {
    writeFileSync(fixture.at('work/f'), 'first');
    const opened = open(directory, 'f', held, 0);
    execFileSync('mv', [fixture.at('work/f'), fixture.at('elsewhere')]);
    mkdirSync(fixture.at('work/f'));
    use(opened, () => expect(use(reopen(opened, O_RDONLY), (file) => readFileSync(file, 'utf8'))).toBe('first'));
  });

  test('refuses a handle of a link, and a number that is not open', () => {
    symlinkSync('../outside.txt', fixture.at('work/link'));
    use(open(directory, 'link', held, 0), (opened) => expect(reopen(opened, O_RDONLY)).toBe(-ELOOP));
    expect([-ENOENT, -EBADF]).toContain(reopen(1_000_000, O_RDONLY));
    const call = reopen as (...args: unknown[]) => unknown;
    for (const args of [[], ['1', 0], [1, 'x']]) expect(() => call(...args)).toThrow(TypeError);
  });
});
