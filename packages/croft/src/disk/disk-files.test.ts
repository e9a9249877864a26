import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { describeFiles } from '../../test/contracts/files.ts';
import {
  bytesOf,
  changeOperations,
  expectFailure,
  readOperations,
  readText,
} from '../../test/contracts/files-expect.ts';
import { plantCanary } from '../../test/support/canary.ts';
import { openOnDisk } from '../../test/support/disk-fixture.ts';
import { temporaryPrefix } from '../core/files/temporary-prefix.ts';

describeFiles('disk', async () => {
  const opened = openOnDisk();
  return { ...opened, [Symbol.asyncDispose]: async () => opened[Symbol.dispose]() };
});

describe('the root', () => {
  test.each(['/virtual', '/virtual/../virtual'])('is known by every name that it was given: %s', async (name) => {
    using folder = openOnDisk();
    symlinkSync(`${name}/a.txt`, folder.at('link'));
    await folder.files.write(`${name}/a.txt`, bytesOf('hello'));
    expect(await readText(folder.files, 'link')).toBe('hello');
    expect(await readText(folder.files, `${folder.fixture.at('nickname')}/a.txt`)).toBe('hello');
    await expectFailure(folder.files.read('/virtual-evil/a.txt'), 'E_SANDBOX_VIOLATION');
    await expectFailure(folder.files.read(`${name}/../a.txt`), 'E_SANDBOX_VIOLATION');
  });

  test('stays the directory that was opened, whatever is later found at its path', async () => {
    using folder = openOnDisk();
    const canary = plantCanary(folder.fixture.at('outside'));
    await folder.files.write('secret.txt', bytesOf('own'));
    renameSync(folder.directory, folder.fixture.at('moved'));
    symlinkSync(canary.path, folder.directory);
    expect(await readText(folder.files, `${folder.directory}/secret.txt`)).toBe('own');
    await folder.files.write('new.txt', bytesOf('new'));
    expect(readdirSync(folder.fixture.at('moved')).sort()).toEqual(['new.txt', 'secret.txt']);
    expect(canary.changes()).toEqual([]);
  });
});

describe('a temporary file of a killed writer', () => {
  const minuteMs = 60_000;
  const plant = (path: string, ageMs: number) => {
    writeFileSync(path, 'half');
    const time = (Date.now() - ageMs) / 1000;
    utimesSync(path, time, time);
  };

  test('is removed by the next write in its directory once it is old, and by no other write', async () => {
    using folder = openOnDisk();
    mkdirSync(folder.at('dir'));
    for (const directory of ['', 'dir/']) plant(folder.at(`${directory}${temporaryPrefix}old`), 2 * minuteMs);
    plant(folder.at(`${temporaryPrefix}fresh`), 0);
    plant(folder.at('.croft-tmpfile'), 2 * minuteMs);
    await folder.files.write('a.txt', bytesOf('a'));
    expect(readdirSync(folder.directory).sort()).toEqual([`${temporaryPrefix}fresh`, '.croft-tmpfile', 'a.txt', 'dir']);
    expect(readdirSync(folder.at('dir'))).toEqual([`${temporaryPrefix}old`]);
    await folder.files.write('dir/a.txt', bytesOf('a'));
    expect(readdirSync(folder.at('dir'))).toEqual(['a.txt']);
  });

  test('is removed once it is old, also by a server that saw it new', async () => {
    using folder = openOnDisk();
    const leftover = folder.at(`${temporaryPrefix}left`);
    plant(leftover, 0);
    await folder.files.write('a.txt', bytesOf('soon after the kill'));
    expect(existsSync(leftover)).toBe(true);
    plant(leftover, 2 * minuteMs);
    await folder.files.write('a.txt', bytesOf('later'));
    expect(readdirSync(folder.directory)).toEqual(['a.txt']);
  });

  test('is removed by name: a link is not followed', async () => {
    using folder = openOnDisk();
    const canary = plantCanary(folder.fixture.at('outside'));
    symlinkSync(`${canary.path}/secret.txt`, folder.at(`${temporaryPrefix}link`));
    symlinkSync(canary.path, folder.at(`${temporaryPrefix}directory`));
    mkdirSync(folder.at(`${temporaryPrefix}mine`));
    await folder.files.write('a.txt', bytesOf('a'));
    expect(canary.changes()).toEqual([]);
    expect(existsSync(folder.at(`${temporaryPrefix}mine`))).toBe(true);
  });

  test('is not listed, and does not count towards the limit', async () => {
    using folder = openOnDisk();
    for (let index = 0; index < 5; index += 1) plant(folder.at(`${temporaryPrefix}${index}`), 0);
    writeFileSync(folder.at('a.txt'), '');
    const { entries, cut } = await folder.files.list('', { limit: 1 });
    expect({ names: entries.map(({ name }) => name), cut }).toEqual({ names: ['a.txt'], cut: false });
  });
});

test.skipIf(process.getuid?.() !== 0)(
  'a file made by a server of root belongs to the owner of its directory',
  async () => {
    using folder = openOnDisk();
    chownSync(folder.directory, 1234, 2345);
    await folder.files.write('dir/sub/new.txt', bytesOf('new'));
    writeFileSync(folder.at('theirs.txt'), 'old');
    chownSync(folder.at('theirs.txt'), 3456, 4567);
    await folder.files.write('theirs.txt', bytesOf('new'));
    const ownerOf = (name: string) => [statSync(folder.at(name)).uid, statSync(folder.at(name)).gid];
    for (const name of ['dir', 'dir/sub', 'dir/sub/new.txt']) expect(ownerOf(name)).toEqual([1234, 2345]);
    expect(ownerOf('theirs.txt')).toEqual([3456, 4567]);
  },
);

test.each([`${temporaryPrefix}mine`, `${temporaryPrefix}dir/a.txt`])(
  'a caller cannot hide a file under the name of a temporary file: %s',
  async (path) => {
    using folder = openOnDisk();
    const outcome = await folder.files.write(path, bytesOf('hidden')).catch((thrown) => thrown.code);
    const { entries } = await folder.files.list('', { limit: 10 });
    expect(outcome === 'E_INVALID_PATH' || entries.length === 1).toBe(true);
  },
);

test('the number of handles of a write does not grow with the depth of the path', async () => {
  using folder = openOnDisk();
  const before = countHandles();
  const work = folder.files.write(`${'d/'.repeat(300)}a.bin`, Buffer.alloc(8 * 1024 * 1024));
  while (!existsSync(folder.at('d/'.repeat(300)))) await setImmediate();
  expect(countHandles() - before).toBeLessThan(20);
  await work;
});

test('a write reports the version of the file it wrote, also if a link has replaced it since', async () => {
  using folder = openOnDisk();
  const canary = plantCanary(folder.fixture.at('outside'));
  const work = folder.files.write('a.txt', bytesOf('mine'));
  while (!existsSync(folder.at('a.txt'))) await setImmediate();
  rmSync(folder.at('a.txt'));
  symlinkSync(canary.path, folder.at('a.txt'));
  expect(await work).toMatchObject({ path: 'a.txt', kind: 'file', size: 4 });
});

test('no operation leaks a handle, on success or failure', async () => {
  using folder = openOnDisk();
  const canary = plantCanary(folder.fixture.at('outside'));
  const paths = [
    '',
    'dir',
    'dir/sub/a.txt',
    'absent',
    'new/x/y',
    'in',
    'in/a.txt',
    'in/new/b',
    'out',
    'out/secret.txt',
  ];
  paths.push('gone', 'gone/x', 'loop', 'loop/x', 'up', 'up/x', 'own.txt/x', 'pipe', '../x', 'nul\0', 'x'.repeat(256));

  // Changing operations come last in a round, because they leave little behind.
  const round = [
    readOperations,
    readOperations,
    readOperations,
    readOperations,
    readOperations,
    changeOperations,
  ].flat();
  const openHandles: number[] = [];
  while (openHandles.length < 12) {
    plantTangle(folder.directory, canary.path);
    for (const [, operate] of round)
      for (const path of paths) await operate(folder.files, path).then(closeIfOpen, () => {});
    await folder.files.modifiedTimes(paths);
    openHandles.push(countHandles());
  }
  // One leaked handle per round would be ten.
  expect(openHandles.at(-1)! - openHandles[1]!).toBeLessThan(5);
  expect(canary.changes()).toEqual([]);
}, 60_000);

test('concurrent reads leak no handles, and each resolves its own path', async () => {
  using folder = openOnDisk();
  const canary = plantCanary(folder.fixture.at('outside'));
  mkdirSync(folder.at('dir/sub'), { recursive: true });
  const names = Array.from({ length: 200 }, (_, index) => `dir/sub/${index}.txt`);
  for (const name of names) writeFileSync(folder.at(name), name);
  const before = countHandles();
  const reads = names.map((name) => folder.files.read(name));
  expect(countHandles()).toBe(before);
  expect((await Promise.all(reads)).map(({ bytes }) => bytes.toString())).toEqual(names);
  expect(countHandles()).toBe(before);

  renameSync(folder.at('dir/sub'), folder.at('dir/moved'));
  await expect(folder.files.read('dir/sub/0.txt')).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
  symlinkSync(canary.path, folder.at('dir/sub'));
  await expect(folder.files.read('dir/sub/secret.txt')).rejects.toMatchObject({ code: 'E_SANDBOX_VIOLATION' });
  expect((await folder.files.read('dir/moved/0.txt')).path).toBe('dir/moved/0.txt');
});

test('modification times come only from below the root, and leave the current directory of the process alone', async () => {
  using folder = openOnDisk();
  mkdirSync(folder.at('dir/sub'), { recursive: true });
  writeFileSync(folder.at('dir/sub/a'), '');
  const before = process.cwd();
  const climbing = [
    '..',
    '.',
    '',
    'dir/..',
    'dir/.',
    'dir/',
    'dir/sub/..',
    '/',
    '/etc',
    '/etc/passwd',
    'dir/sub/../../..',
  ];
  expect(await folder.files.modifiedTimes(climbing)).toEqual(climbing.map(() => 0));
  expect(await folder.files.modifiedTimes(['dir/sub/a', `${folder.directory}/dir/sub/a`])).not.toContain(0);
  expect(process.cwd()).toBe(before);
});

function countHandles(): number {
  return readdirSync('/proc/self/fd').length;
}

/** One of each kind of entry that a path can meet. */
function plantTangle(directory: string, outside: string): void {
  for (const name of readdirSync(directory)) rmSync(`${directory}/${name}`, { recursive: true });
  mkdirSync(`${directory}/dir/sub`, { recursive: true });
  for (const name of ['own.txt', 'dir/sub/a.txt']) writeFileSync(`${directory}/${name}`, name);
  const links = { in: 'dir/sub', out: outside, gone: 'nowhere', loop: 'loop', up: 'dir/../..' };
  for (const [name, text] of Object.entries(links)) symlinkSync(text, `${directory}/${name}`);
  execFileSync('mkfifo', [`${directory}/pipe`]);
}

async function closeIfOpen(result: unknown): Promise<void> {
  const isOpen = typeof result === 'object' && result !== null && Symbol.asyncDispose in result;
  if (isOpen) await (result as AsyncDisposable)[Symbol.asyncDispose]();
}
