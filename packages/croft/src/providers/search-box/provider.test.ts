import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeDirectory } from '../../../test/support/harness.ts';
import type { SearchBox, SearchCommand } from '../../core/content/search/search-box.ts';
import { createSearchBoxes } from './provider.ts';

const all = { suffix: '' };
const never = new AbortController().signal;

/** Opens a box that also has a shell, to try from inside what an attacker could do after breaking into ripgrep. */
async function openBox(tree: Record<string, string> = {}) {
  const fixture = makeDirectory(tree);
  const directory = openSync(fixture.path, 'r');
  const spec = { directoryFd: directory, workspacePath: fixture.path, programs: ['sh', 'rg'] };
  const box = await createSearchBoxes().open(spec);
  onTestFinished(async () => {
    await box.close();
    closeSync(directory);
    fixture[Symbol.dispose]();
  });
  return { fixture, box };
}

async function run(box: SearchBox, argv: readonly [string, ...string[]], withTimes?: SearchCommand['withTimes']) {
  const running = box.start({ argv, signal: never, ...(withTimes && { withTimes }) });
  const [stdout, stderr, { code }] = await Promise.all([text(running.stdout), text(running.stderr), running.exit]);
  return { stdout, stderr, code };
}

const sh = (box: SearchBox, script: string) => run(box, ['sh', '-c', script]);

/** The processes that have this word among their arguments. */
function processesWith(word: string): number[] {
  const hasWord = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && hasWord(name))
    .map(Number);
}

describe('a program in a search box', () => {
  test('finds only the workspace and itself', async () => {
    const { box, fixture } = await openBox({ 'a.txt': 'inside' });
    const top = fixture.path.split('/')[1];
    const { stdout } = await sh(box, 'echo /*; echo /run/* /run/croft/* /usr/bin/*; pwd; read x < a.txt; echo $x');
    const [root = '', ...rest] = stdout.split('\n');
    expect(root.split(' ').filter((name) => !/^\/lib\d*$/.test(name))).toEqual(['/run', `/${top}`, '/usr'].sort());
    expect(rest).toEqual(['/run/croft /run/croft/init /usr/bin/rg /usr/bin/sh', fixture.path, 'inside', '']);
  });

  test.each(['a.txt', '/new', '/run/croft/new', '/dev/null', '/proc/1/oom_score_adj', '/usr/bin/rg'])(
    'cannot write to %s',
    async (path) => {
      const { box, fixture } = await openBox({ 'a.txt': 'inside' });
      const { code } = await sh(box, `echo changed > ${path}`);
      expect(code).not.toBe(0);
      expect(readFileSync(fixture.at('a.txt'), 'utf8')).toBe('inside');
    },
  );

  test('cannot start another program', async () => {
    const { box } = await openBox();
    expect(await sh(box, 'rg --version; echo started')).toMatchObject({
      stdout: '',
      stderr: expect.stringMatching(/fork/),
    });
  });

  test('has limited resources', async () => {
    const { box } = await openBox();
    expect((await sh(box, 'ulimit -d; ulimit -f; ulimit -c')).stdout).toBe(`${2 * 1024 ** 2}\n0\n0\n`);
  });

  test('cannot end another program or the box by a signal', async () => {
    const { box, fixture } = await openBox({ 'a.txt': 'inside' });
    const script = `while :; do read x < a.txt; done; : ${fixture.path}`;
    const waiting = box.start({ argv: ['sh', '-c', script], signal: never });
    const ended = vi.fn();
    void waiting.exit.then(ended);
    await vi.waitFor(() => expect(processesWith(script)).toHaveLength(1));
    const { stdout } = await sh(
      box,
      'for one in -1 1 2 3 4 5 6 7 8 9 10 $PPID; do kill -9 $one && echo killed $one; done; :',
    );
    expect(stdout).toBe('');
    expect((await sh(box, 'echo still here')).stdout).toBe('still here\n');
    expect(ended).not.toHaveBeenCalled();
    waiting.kill();
    expect(await waiting.exit).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('a search', () => {
  test('that is cancelled is ended, with its second program that reads the times', async () => {
    const { box } = await openBox({ 'a.txt': 'inside' });
    const word = `mark-${process.pid}-${Date.now()}`;
    const abort = new AbortController();
    const script = 'while :; do printf "a.txt\\0"; done';
    const running = box.start({ argv: ['sh', '-c', script, word], signal: abort.signal, withTimes: { suffix: '' } });
    running.stdout.resume();
    await vi.waitFor(() => expect(processesWith(word)).toHaveLength(2));
    abort.abort();
    await running.exit;
    await vi.waitFor(() => expect(processesWith(word)).toEqual([]));
    expect((await sh(box, 'echo next')).stdout).toBe('next\n');
  });

  test('ends also if its output is not read to the end', async () => {
    const { box } = await openBox();
    const running = box.start({ argv: ['sh', '-c', 'while :; do echo more than anybody reads; done'], signal: never });
    for await (const _ of running.stdout) break;
    running.kill();
    expect(await running.exit).toMatchObject({ signal: 'SIGKILL' });
  });

  test('with times gives the time of every file, also far in the past or future, and the exit code', async () => {
    const { box, fixture } = await openBox({ 'now.txt': '', 'old.txt': '', 'later.txt': '', 'dir/new\nline.txt': '' });
    mkdirSync(fixture.at('empty'));
    utimesSync(fixture.at('now.txt'), 1_700_000_000.25, 1_700_000_000.25);
    utimesSync(fixture.at('old.txt'), new Date(-1500), new Date(-1500));
    utimesSync(fixture.at('later.txt'), 8_000_000_000, 8_000_000_000);
    utimesSync(fixture.at('dir/new\nline.txt'), 1, 1);
    const paths = ['now.txt', 'old.txt', './later.txt', 'dir/new\nline.txt', 'dir/new\nline.txt', 'gone', 'x/y', ''];
    const words = paths.map((path) => `'${path}\\0'`).join(' ');
    const { stdout, code } = await run(box, ['sh', '-c', `printf ${words.replaceAll("' '", '')}; exit 7`], all);
    const times = stdout.split('\0').map((record) => record.slice(0, record.indexOf(' ')));
    expect(times.slice(0, 5)).toEqual(['17000000002500000', '-15000000', '80000000000000000', '10000000', '10000000']);
    expect(times.slice(5)).toEqual(['0', '0', '0', '']);
    expect(code).toBe(7);
  });

  test('with times leaves out a line that ends wrongly', async () => {
    const { box } = await openBox({ 'a.ts': '', s: '', 'b.tsx': '' });
    const { stdout } = await run(box, ['rg', '--files', '--null', '--sort=path'], { suffix: '.ts' });
    expect(stdout).toMatch(/^\d+ a\.ts\0$/);
  });

  test('with times reports too long a path as a failure', async () => {
    const { box, fixture } = await openBox();
    writeFileSync(fixture.at('long'), 'x'.repeat(100_000));
    const { code, stdout } = await run(box, ['rg', '--no-filename', '--null-data', 'x', 'long'], all);
    expect({ code, stdout }).toEqual({ code: 126, stdout: '' });
  });
});
