import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { prepareTree } from '../../../test/history/trees.ts';
import { scope } from '../../../test/history/working-tree-fixture.ts';
import { makeDirectory } from '../../../test/support/harness.ts';
import { createDiskFiles } from '../disk-files.ts';
import { openRoot } from '../paths/handles.ts';
import { addon } from '../paths/native-addon.ts';
import { withDirectoryLocks } from './directory-locks.ts';

if (!addon) throw new Error('set-up has not compiled the file system addon');
const { lock, lockNumber } = addon;
const { EALREADY, ENOLCK } = constants.errno;

/** Starts another process that holds the lock of a directory until it is killed. */
async function holdElsewhere(directory: string) {
  const program = join(import.meta.dirname, '../../../test/fixtures/lock-holder.ts');
  const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  let isKilled = false;
  return {
    pid: child.pid,
    isKilled: () => isKilled,
    kill(): void {
      isKilled = true;
      child.kill('SIGKILL');
    },
  };
}

const bytes = Buffer.from('new');
const signal = new AbortController().signal;
async function* pieces() {
  yield bytes;
}

describe('while another process holds the lock of a directory', () => {
  let fixture: ReturnType<typeof makeDirectory>;
  let files: ReturnType<typeof createDiskFiles>;

  beforeEach(() => {
    fixture = makeDirectory({ 'work/held/a.txt': 'old', 'work/free/b.txt': 'old' });
    const handle = openRoot(fixture.at('work'));
    files = createDiskFiles({ handle, names: [] });
    return () => {
      closeSync(handle);
      fixture[Symbol.dispose]();
    };
  });

  test.each([
    ['write', () => files.write('held/a.txt', bytes)],
    ['write of a new file', () => files.write('held/new.txt', bytes)],
    ['change', () => files.change('held/a.txt', () => ({ bytes }))],
    ['upload', () => files.upload('held/a.txt', pieces(), { maxBytes: 10 })],
    ['remove', () => files.remove('held/a.txt', { recursive: false, signal })],
    ['rename from there', () => files.rename('held/a.txt', 'free/c.txt')],
    ['rename to there', () => files.rename('free/b.txt', 'held/c.txt')],
    [
      'write by another root and without a sync',
      () => {
        const handle = openRoot(fixture.at('work/held'));
        onTestFinished(() => closeSync(handle));
        return createDiskFiles({ handle, names: [], durability: 'relaxed' }).write('a.txt', bytes);
      },
    ],
  ])('%s waits until that process is killed', async (_, work) => {
    const holder = await holdElsewhere(fixture.at('work/held'));
    const timer = setTimeout(holder.kill, 100);
    onTestFinished(() => clearTimeout(timer));
    await work();
    expect(holder.isKilled()).toBe(true);
  });

  /** Different directories rarely share a lock, but these may. */
  function otherThan(name: string, others: readonly string[]): string {
    const numberOf = (one: string) => {
      mkdirSync(fixture.at(`work/${one}`), { recursive: true });
      const handle = openRoot(fixture.at(`work/${one}`));
      onTestFinished(() => closeSync(handle));
      return lockNumber(handle);
    };
    return others.find((other) => numberOf(other) !== numberOf(name)) ?? expect.unreachable();
  }

  test('operations in other directories go on', async () => {
    const holder = await holdElsewhere(fixture.at('work/held'));
    await files.write(`${otherThan('held', ['free', 'free2', 'free3'])}/new.txt`, bytes);
    expect(await files.read('held/a.txt')).toMatchObject({ size: 3 });
    expect(holder.isKilled()).toBe(false);
  });

  test('the wait ends at a deadline, and the error names the process', async () => {
    const holder = await holdElsewhere(fixture.at('work/held'));
    const directory = openSync(fixture.at('work/held'), 'r');
    onTestFinished(() => closeSync(directory));
    const work = withDirectoryLocks(
      'held/a.txt',
      () => [directory],
      () => expect.unreachable(),
      50,
    );
    const text = `held/a.txt was not changed: the Croft process ${holder.pid} on this machine has held the lock`;
    await expect(work).rejects.toMatchObject({
      code: 'E_TIMEOUT',
      message: expect.stringContaining(text),
      details: { path: 'held/a.txt', pid: holder.pid },
      hint: expect.stringContaining('Make the same call again'),
    });
  });
});

test('undo waits too, for files that it restores and removes', async () => {
  const fixture = prepareTree({ 'd/changed': '1', 'd/gone': '1' });
  const tree = await fixture.open();
  const before = (await tree.capture({ scope })).root;
  writeFileSync(fixture.at('d/changed'), 'two');
  writeFileSync(fixture.at('d/made'), 'two');
  const changes = await tree.diff((await tree.capture({ scope })).root, before);
  const holder = await holdElsewhere(fixture.at('d'));
  const timer = setTimeout(holder.kill, 100);
  onTestFinished(() => clearTimeout(timer));
  await tree.apply(changes);
  expect(holder.isKilled()).toBe(true);
  expect(readFileSync(fixture.at('d/changed'), 'utf8')).toBe('1');
  expect(existsSync(fixture.at('d/made'))).toBe(false);
});

describe('a directory lock', () => {
  let fixture: ReturnType<typeof makeDirectory>;
  let directory: number;

  beforeEach(() => {
    fixture = makeDirectory({ 'locks/other': '' });
    directory = openSync(fixture.at('locks'), 'r');
    return () => {
      closeSync(directory);
      fixture[Symbol.dispose]();
    };
  });

  test('has one owner at a time, also within one process, until its handle is closed', () => {
    const handle = lock(directory, 'a');
    expect(handle).toBeGreaterThan(0);
    expect(lock(directory, 'a')).toBe(-EALREADY);
    closeSync(handle);
    const again = lock(directory, 'a');
    expect(again).toBeGreaterThan(0);
    closeSync(again);
    expect(statSync(fixture.at('locks/a')).mode & 0o777).toBe(0o600);
  });

  test('fails for a directory that is gone, and does not follow a link in place of the lock file', () => {
    mkdirSync(fixture.at('gone'));
    const gone = openSync(fixture.at('gone'), 'r');
    rmdirSync(fixture.at('gone'));
    expect(lock(gone, 'a')).toBe(-ENOLCK);
    closeSync(gone);
    symlinkSync('other', fixture.at('locks/link'));
    expect(lock(directory, 'link')).toBe(-constants.errno.ELOOP);
    const call = lock as (...args: unknown[]) => unknown;
    for (const args of [[], ['1', 'a'], [1, ''], [1, 2]]) expect(() => call(...args)).toThrow(TypeError);
  });

  test('is the same for every path to the directory', () => {
    const [one, other] = [openSync(`${fixture.path}/locks/.`, 'r'), openSync(`${fixture.path}/locks/../locks`, 'r')];
    expect(lockNumber(one)).toBe(lockNumber(other));
    expect(lockNumber(one)).toBeGreaterThanOrEqual(0);
    for (const handle of [one, other]) closeSync(handle);
    expect(lockNumber(1_000_000)).toBeLessThan(0);
  });
});
