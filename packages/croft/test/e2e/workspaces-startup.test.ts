import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { connectStdio, croft, makeDirectory, runCroft } from '../support/harness.ts';

const outer = makeDirectory({
  file: '',
  'one/a.txt': '',
  'two/b.txt': '',
  'one/inner/c.txt': '',
  'x=y/d.txt': '',
  'three/e': '',
});
const at = outer.at;
symlinkSync(at('one'), at('to-one'));
symlinkSync(at('one/inner'), at('to-inner'));
symlinkSync('nowhere', at('dangling'));
symlinkSync('loop', at('loop'));
afterAll(() => outer[Symbol.dispose]());

const mcp = (...args: string[]) => runCroft(['mcp', ...args], { cwd: outer.path });

/** The start-up line of a server that started, and the names it has. */
async function start(spec: string) {
  const { exitCode, stderr } = await mcp('--workspaces', spec);
  expect(exitCode, stderr).toBe(0);
  return stderr;
}

describe('--workspaces', () => {
  test('lists at start the number of workspaces, sorted', async () => {
    expect(await start(`primary=${at('one')},extension=${at('two')}`)).toBe(
      'croft multi-workspace mode: 2 workspaces configured (extension, primary)\n',
    );
  });

  test.concurrent.each([
    ['spaces, blank entries, doubled and trailing commas', ` ,,a = ${at('one')} , ,\tb= ${at('two')}\n,,`, 'a, b'],
    ['names by the last part of the path as written', `to-one/, =${at('two')},= x=y `, 'to-one, two, x=y'],
    ['paths from the current directory, and a cut at the first =', 'a=./two/../one,b=x=y', 'a, b'],
    ['names in any letters, sorted by code', 'b=one,B=two,a"b=x=y,tab\there=three', 'B, a"b, b, tab\there'],
  ])('accepts %s', async (_, spec, names) => {
    const count = names.split(', ').length;
    expect(await start(spec)).toBe(`croft multi-workspace mode: ${count} workspaces configured (${names})\n`);
  });

  test.concurrent.each([
    ['name=', 'workspaces: empty path in entry "name="'],
    ['a=one,=', 'workspaces: empty path in entry "="'],
    [',', 'workspaces: no entries parsed from ","'],
    [' , ,', 'workspaces: no entries parsed from " , ,"'],
    ['one=one,one=two', 'workspace[1]: duplicate name "one"'],
    ['a=one, a =two', 'workspace[1]: duplicate name "a"'],
    ['/', 'workspace[0]: cannot derive a non-empty name from root "/"; pass an explicit name'],
    ['a=two,one/.', 'workspace[1]: cannot derive a non-empty name from root "one/."; pass an explicit name'],
    ['.=one', 'workspace[0]: cannot derive a non-empty name from root "one"; pass an explicit name'],
    ['x=/nope', 'workspace[0] (x): resolve workspace root: lstat /nope: no such file or directory'],
    ['y=one,x=nope', `workspace[1] (x): resolve workspace root: lstat ${at('nope')}: no such file or directory`],
    [
      `x=${at('nope/deeper')}`,
      `workspace[0] (x): resolve workspace root: lstat ${at('nope')}: no such file or directory`,
    ],
    [`x=${at('file')}`, `workspace[0] (x): workspace root is not a directory: "${at('file')}"`],
    [`y=one,${at('file')}`, `workspace[1] (file): workspace root is not a directory: "${at('file')}"`],
  ])('refuses %j with %s', async (spec, message) => {
    const answer = await mcp('--workspaces', spec);
    expect(answer).toEqual({ exitCode: 2, stdout: '', stderr: `workspace: ${message}\n` });
  });

  test.concurrent.each(['x=dangling', 'x=loop', 'x=file/child'])(
    'refuses %s, which is not a directory, with a clear error',
    async (spec) => {
      const { exitCode, stderr } = await mcp('--workspaces', spec);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^workspace: workspace\[0\] \(x\): .+\n$/);
      expect(stderr).not.toMatch(/ {4}at |node:/);
    },
  );

  test.concurrent.each([
    ['the same directory twice', 'a=one,b=one', 'same directory'],
    ['the same directory in other words', `a=one,b=${at('one')}/../one/`, 'same directory'],
    ['the same directory by a link', 'a=one,b=to-one', 'same directory'],
    ['a directory inside another', 'a=one,b=one/inner', 'inside'],
    ['a directory around another', 'a=one/inner,b=one', 'inside'],
    ['a directory inside another by a link', 'a=one,b=to-inner', 'inside'],
    ['a directory around another by a link', 'a=to-inner,b=to-one', 'inside'],
    ['everything around another', 'a=one,b=/', 'inside'],
  ])('refuses %s', async (_, spec, word) => {
    const { exitCode, stderr } = await mcp('--workspaces', spec);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^workspace: workspace\[1\] \(b\): .*"a".*\n$/);
    expect(stderr).toContain('"b"');
    expect(stderr).toContain(word);
  });

  test('accepts two directories of which one name begins with the other', async () => {
    mkdirSync(at('one-evil'));
    expect(await start('one,one-evil')).toContain('(one, one-evil)');
  });

  test('knows a workspace by its given name, and lists names exactly', async () => {
    await using session = await connectStdio(['--workspaces', `a"b=${at('one')},tab\there=${at('two')}`]);
    expect((await session.call('read', { workspace: 'a"b', file_path: 'a.txt' })).isError).toBe(false);
    expect((await session.call('read', { workspace: 'tab\there', file_path: 'b.txt' })).isError).toBe(false);
    expect((await session.call('list', {})).text).toBe(
      'multi-workspace sandbox: 2 workspaces configured (a"b, tab\there) \u2014 pass `workspace` to pick one',
    );
    expect((await session.call('list', { workspace: 'tab\tthere' })).text).toBe(
      'unknown workspace "tab\\tthere"; configured: a"b, tab\there',
    );
  });

  test('knows a workspace whose directory begins with a space by a name that a call can use', async () => {
    mkdirSync(at(' spaced '));
    await using session = await connectStdio(['--workspaces', `one,./ spaced /`], { cwd: outer.path });
    expect((await session.call('list', { workspace: 'spaced' })).isError).toBe(false);
    await using single = await connectStdio(['--workspace', at(' spaced ')]);
    expect((await single.call('list', { workspace: ' spaced ' })).isError).toBe(false);
  });

  test('reserves the name all for every workspace, if there are several', async () => {
    const { exitCode, stderr } = await mcp('--workspaces', 'all=one,b=two');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^workspace: workspace\[0\]: .*"all".*\n$/);
    expect((await mcp('--workspaces', 'all=one')).exitCode).toBe(0);
    expect((await mcp('--workspaces', 'All=one,ALL=two')).exitCode).toBe(0);
  });
});

describe('--workspace', () => {
  test.concurrent.each([
    [
      ['--workspace', '/x', '--workspaces', 'a=/y'],
      '-workspace "/x" and -workspaces "a=/y" are mutually exclusive; use one',
    ],
    [['-workspace=/x', '-workspaces=a=/y'], '-workspace "/x" and -workspaces "a=/y" are mutually exclusive; use one'],
    [
      ['--workspace=/workspace', '--workspaces=a=one'],
      '-workspace "/workspace" and -workspaces "a=one" are mutually exclusive; use one',
    ],
    [['--workspace', '/nope'], 'resolve workspace root: lstat /nope: no such file or directory'],
    [['--workspace', at('file')], `workspace root is not a directory: "${at('file')}"`],
  ])('refuses %j', async (args, message) => {
    expect(await mcp(...args)).toEqual({ exitCode: 2, stdout: '', stderr: `workspace: ${message}\n` });
  });

  test('accepts a relative directory, and the current one if omitted, without a message', async () => {
    for (const args of [['--workspace', 'one'], ['-workspace=one'], []]) {
      expect(await mcp(...args)).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    }
  });

  test.each([
    ['left out', []],
    ['one and --workspaces empty', ['--workspaces', '']],
  ])('%s is the current directory', async (_, args) => {
    writeFileSync(at('one/here.txt'), 'here');
    const { stdout, stderr } = await runCroft(['tool', 'read', '{"file_path":"here.txt"}', ...args], {
      cwd: at('one'),
    });
    expect({ stdout, stderr }).toEqual({ stdout: '1\there\n', stderr: '' });
  });

  describe.skipIf(process.getuid?.() !== 0)('for a user without access to every directory', () => {
    const shell = 'cd "$0" && exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"';
    const asNobodyIn = (cwd: string, ...args: string[]) =>
      spawnSync('sh', ['-c', shell, cwd, croft, ...args], { encoding: 'utf8', env: { PATH: process.env.PATH } });
    chmodSync(outer.path, 0o755);
    mkdirSync(at('closed/inner'), { recursive: true, mode: 0o700 });

    test('is not reported as missing when nobody can look', () => {
      const { status, stderr } = asNobodyIn('/', 'mcp', '--workspace', at('closed/inner'));
      expect({ status, stderr }).toEqual({
        status: 2,
        stderr: `workspace: resolve workspace root: lstat ${at('closed/inner')}: permission denied\n`,
      });
    });

    test('is opened although the current directory is closed', () => {
      const { status, stdout } = asNobodyIn(at('closed'), 'tool', 'list', '--workspace', at('two'));
      expect({ status, stdout }).toEqual({ status: 0, stdout: 'b.txt\t0\n' });
    });
  });

  test('gets the real last name of its directory, and no other', async () => {
    await using session = await connectStdio(['--workspace', at('to-one')]);
    const { structured } = await session.call('workspaces');
    expect(structured.workspaces).toMatchObject([{ name: 'one', root: realpathSync(at('one')) }]);
    for (const workspace of [undefined, 'one', ' one\n', '', '  ', 3, null]) {
      expect((await session.call('read', { file_path: 'a.txt', workspace })).isError).toBe(false);
    }
    for (const workspace of ['to-one', 'One', 'two']) {
      expect(await session.call('read', { file_path: 'a.txt', workspace })).toMatchObject({
        isError: true,
        text: `unknown workspace "${workspace}"; configured: one`,
      });
    }
  });
});
