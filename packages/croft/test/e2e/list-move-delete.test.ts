import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import { callAsNobody, codeOf, giveToNobody, messageOf, shareServer } from './shared-server.ts';

const { at, call, put, text: textOf } = shareServer({ 'file.txt': 'x\n', 'full/inner.txt': 'inner\n' });

/** A file name that is not UTF-8, as older archives have them. */
function putLatin1(directory: string) {
  mkdirSync(at(directory), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${at(directory)}/caf`), Buffer.from([0xe9])]), 'x');
}

describe('list', () => {
  test('shows names in order with hidden ones: sizes, directories with a slash, links with their target', async () => {
    for (const name of ['b.txt', 'B.txt', '.hidden', 'sub/x', 'é.txt', 'new\nline']) put(`listed/${name}`, '12345');
    symlinkSync('b.txt', at('listed/link'));
    symlinkSync('/etc/passwd', at('listed/out'));
    execFileSync('mkfifo', [at('listed/pipe')]);
    const { text, structured } = await call('list', { path: 'listed' });
    expect(text).toBe(
      '.hidden\t5\nB.txt\t5\nb.txt\t5\nlink -> b.txt\nnew\nline\t5\nout -> /etc/passwd\npipe\t0\nsub/\né.txt\t5\n',
    );
    expect(structured).toMatchObject({ path: 'listed', truncated: false });
    expect(structured.entries).toContainEqual({ name: 'link', kind: 'link', size: 5, target: 'b.txt' });
    expect(structured.entries).toContainEqual({ name: 'pipe', kind: 'other', size: 0 });
    expect(structured.entries).toContainEqual({ name: 'b.txt', kind: 'file', size: 5 });
  });

  test.each([{}, { path: '' }, { path: '.' }, { path: at('') }, { path: 'full/..' }])(
    'reads %j as the root',
    async (args) => {
      const { text, structured } = await call('list', args);
      expect(text).toContain('file.txt\t2\n');
      expect(structured.path).toBe('');
    },
  );

  test('reports an empty directory, and follows a link to one inside', async () => {
    mkdirSync(at('empty'));
    symlinkSync('empty', at('to-empty'));
    expect(await call('list', { path: 'empty' })).toMatchObject({
      text: 'empty is empty.\n',
      structured: { entries: [] },
    });
    expect(await call('list', { path: 'to-empty' })).toMatchObject({ structured: { path: 'empty' } });
  });

  test('answers in limited size, whatever the links contain', async () => {
    mkdirSync(at('wordy'));
    for (let index = 0; index < 300; index++) symlinkSync('t/'.repeat(2000), at(`wordy/${index}`));
    const { text, structured } = await call('list', { path: 'wordy' });
    expect(JSON.stringify(structured).length).toBeLessThan(1_000_000);
    expect(structured.truncated).toBe(true);
    expect(text).toMatch(/\(more than \d+ entries; raise limit, or use glob\)\n$/);
  });

  test('stops at the limit with a note, and reads a limit below one as omitted', async () => {
    for (let index = 0; index < 30; index++) put(`many/${index}.txt`, '');
    const { text, structured } = await call('list', { path: 'many', limit: 10 });
    expect(structured.entries).toHaveLength(10);
    expect(structured.truncated).toBe(true);
    expect(text).toMatch(/\(more than 10 entries; raise limit, or use glob\)\n$/);
    expect((await call('list', { path: 'many', limit: 30 })).structured).toMatchObject({ truncated: false });
    expect((await call('list', { path: 'many', limit: -1 })).structured.entries).toHaveLength(30);
  });

  test('shows a name that is not UTF-8 instead of hiding the file', async () => {
    putLatin1('latin1-list');
    expect((await call('list', { path: 'latin1-list' })).structured.entries).toHaveLength(1);
  });

  test.each([
    ['file.txt', 'E_NOT_A_DIRECTORY', 'path is not a directory: file.txt'],
    ['absent', 'E_FILE_NOT_FOUND', 'absent'],
    ['file.txt/child', 'E_NOT_A_DIRECTORY', 'file.txt/child'],
    ['..', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['/', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
  ])('refuses %s with %s', async (path, code, message) => {
    const answer = await call('list', { path });
    expect(codeOf(answer)).toBe(code);
    expect(answer.text).toContain(message);
  });

  test.each(['List', 'LS', 'list_directory'])('can be called as %s', async (alias) => {
    expect((await call(alias, { path: 'full' })).text).toBe('inner.txt\t6\n');
  });
});

describe('move', () => {
  const move = (from: string, to: string) => call('move', { from, to });

  test('renames a file with its mode, and makes missing directories', async () => {
    put('m/script.sh', 'echo\n');
    chmodSync(at('m/script.sh'), 0o755);
    const answer = await move('m/script.sh', 'm/new/dir/run.sh');
    expect(answer).toMatchObject({
      text: expect.stringMatching(/^moved m\/script\.sh to m\/new\/dir\/run\.sh\b/),
      isError: false,
    });
    expect(answer.structured).toMatchObject({ from: 'm/script.sh', to: 'm/new/dir/run.sh', kind: 'file' });
    expect(existsSync(at('m/script.sh'))).toBe(false);
    expect(statSync(at('m/new/dir/run.sh')).mode & 0o777).toBe(0o755);
  });

  test('renames a directory with its content', async () => {
    put('m/tree/deep/x.txt', 'x');
    expect((await move('m/tree', 'm/moved')).structured.kind).toBe('directory');
    expect(textOf('m/moved/deep/x.txt')).toBe('x');
    expect(existsSync(at('m/tree'))).toBe(false);
  });

  test.each(['target.txt', 'nowhere', '/etc/passwd'])('moves a link to %s itself, not its target', async (target) => {
    put('m/l/target.txt', 'x');
    rmSync(at('m/l/after'), { force: true });
    symlinkSync(target, at('m/l/before'));
    expect((await move('m/l/before', 'm/l/after')).structured.kind).toBe('link');
    expect(readlinkSync(at('m/l/after'))).toBe(target);
    expect(existsSync(at('m/l/target.txt'))).toBe(true);
  });

  test.each(['file', 'directory', 'empty directory', 'dangling link'])('never replaces a %s', async (kind) => {
    rmSync(at('m/taken'), { recursive: true, force: true });
    if (kind === 'file') put('m/taken', 'theirs');
    else if (kind === 'directory') put('m/taken/x', 'theirs');
    else if (kind === 'empty directory') mkdirSync(at('m/taken'));
    else symlinkSync('nowhere', at('m/taken'));
    const before = lstatSync(at('m/taken')).ino;
    for (const from of ['m/source.txt', 'm/source-dir']) {
      put('m/source.txt', 'mine');
      put('m/source-dir/x', 'mine');
      expect(codeOf(await move(from, 'm/taken'))).toBe('E_ALREADY_EXISTS');
      expect(existsSync(at(from))).toBe(true);
    }
    expect(lstatSync(at('m/taken')).ino).toBe(before);
  });

  test.each([
    ['absent', 'm/x', 'E_FILE_NOT_FOUND', 'absent'],
    ['full', 'full/inside', 'E_INVALID_INPUT', 'into itself'],
    ['.', 'm/x', 'E_INVALID_INPUT', 'root'],
    ['file.txt', '../out.txt', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['../x', 'm/x', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['file.txt', 'full/inner.txt/child', 'E_NOT_A_DIRECTORY', 'full/inner.txt/child'],
    ['file.txt', '', 'E_INVALID_INPUT', 'to is required'],
    ['', 'm/x', 'E_INVALID_INPUT', 'from is required'],
  ])('refuses %s to %j with %s', async (from, to, code, message) => {
    const answer = await move(from, to);
    expect(codeOf(answer)).toBe(code);
    expect(answer.text).toContain(message);
    expect(existsSync(at('m/x'))).toBe(false);
    expect(readdirSync(at('full'))).toEqual(['inner.txt']);
  });

  test.each(['m/into', 'm/into/', 'm/into-new/'])(
    'of a file to the directory %s is refused with the full path to use',
    async (to) => {
      put('m/file.txt', 'x');
      mkdirSync(at('m/into'), { recursive: true });
      const answer = await move('m/file.txt', to);
      expect(codeOf(answer)).toBe(to.endsWith('/') ? 'E_NOT_A_FILE' : 'E_ALREADY_EXISTS');
      expect(messageOf(answer)).toContain(`name it: ${to.replace(/\/$/, '')}/file.txt`);
      expect(existsSync(at('m/file.txt'))).toBe(true);
      expect(existsSync(at('m/into-new'))).toBe(false);
    },
  );

  test('refuses to move a directory into itself through a link', async () => {
    put('m/self/inner/x', 'x');
    symlinkSync('self/inner', at('m/to-inner'));
    expect(codeOf(await move('m/self', 'm/to-inner/y'))).toBe('E_INVALID_INPUT');
    expect(textOf('m/self/inner/x')).toBe('x');
  });

  test('names the path that failed, not the other one', async () => {
    const answer = await move('file.txt', 'full/inner.txt/child');
    expect(messageOf(answer)).toContain('full/inner.txt/child');
    expect(answer.structured.error.details.path).toBe('full/inner.txt/child');
  });

  test.each(['Move', 'move_file'])('can be called as %s', async (alias) => {
    put(`m/${alias}`, 'x');
    expect((await call(alias, { from: `m/${alias}`, to: `m/${alias}-2` })).isError).toBe(false);
  });
});

describe('delete', () => {
  const remove = (file_path: string, recursive?: boolean) =>
    call('delete', { file_path, ...(recursive !== undefined && { recursive }) });

  test('removes a file', async () => {
    put('d/x.txt', 'x');
    expect(await remove('d/x.txt')).toMatchObject({
      text: 'deleted d/x.txt',
      structured: { path: 'd/x.txt', kind: 'file', removed: 1 },
    });
    expect(existsSync(at('d/x.txt'))).toBe(false);
  });

  test.each(['../file.txt', '/etc/hostname', '../full', 'nowhere'])(
    'removes a link to %s and leaves its target',
    async (target) => {
      mkdirSync(at('d'), { recursive: true });
      symlinkSync(target, at('d/link'));
      expect(await remove('d/link', true)).toMatchObject({ isError: false, structured: { kind: 'link', removed: 1 } });
      expect(readdirSync(at('d'))).not.toContain('link');
      expect([existsSync(at('file.txt')), existsSync(at('full/inner.txt')), existsSync('/etc/hostname')]).toEqual([
        true,
        true,
        true,
      ]);
    },
  );

  test('removes an empty directory, and a full one only with permission', async () => {
    mkdirSync(at('d/empty'), { recursive: true });
    expect((await remove('d/empty')).structured).toMatchObject({ kind: 'directory', removed: 1 });
    for (const name of ['a', 'b/c', 'b/d/e']) put(`d/tree/${name}`, 'x');
    symlinkSync('../../full', at('d/tree/link'));
    const refusal = await remove('d/tree');
    expect(codeOf(refusal)).toBe('E_DIRECTORY_NOT_EMPTY');
    expect(refusal.text).toContain('recursive');
    expect(textOf('d/tree/b/d/e')).toBe('x');
    const { text, structured } = await remove('d/tree', true);
    expect(text).toBe('deleted d/tree (7 entries)');
    expect(structured).toEqual({ path: 'd/tree', kind: 'directory', removed: 7 });
    expect(existsSync(at('d/tree'))).toBe(false);
    expect(textOf('full/inner.txt')).toBe('inner\n');
  });

  test('removes a tree with names that are not UTF-8', async () => {
    putLatin1('d/latin1');
    expect((await remove('d/latin1', true)).isError).toBe(false);
    expect(existsSync(at('d/latin1'))).toBe(false);
  });

  test('removes a deep tree and a pipe', async () => {
    mkdirSync(at(`d/deep${'/n'.repeat(300)}`), { recursive: true });
    execFileSync('mkfifo', [at('d/deep/pipe')]);
    expect((await remove('d/deep', true)).structured.removed).toBe(302);
  });

  test.each([
    ['absent', 'E_FILE_NOT_FOUND', 'absent'],
    ['.', 'E_INVALID_INPUT', 'the workspace root cannot be deleted'],
    ['full/..', 'E_INVALID_INPUT', 'the workspace root cannot be deleted'],
    [at(''), 'E_INVALID_INPUT', 'the workspace root cannot be deleted'],
    ['', 'E_INVALID_INPUT', 'file_path is required'],
    ['..', 'E_SANDBOX_VIOLATION', 'path is outside workspace root'],
    ['file.txt/child', 'E_NOT_A_DIRECTORY', 'file.txt/child'],
  ])('refuses %s with %s', async (file_path, code, message) => {
    const answer = await remove(file_path, true);
    expect(codeOf(answer)).toBe(code);
    expect(answer.text).toContain(message);
    expect(textOf('file.txt')).toBe('x\n');
  });

  test.each(['Delete', 'file-delete', 'delete_file'])('can be called as %s, with path for file_path', async (alias) => {
    put('d/aliased', 'x');
    expect((await call(alias, { path: 'd/aliased' })).isError).toBe(false);
    expect(existsSync(at('d/aliased'))).toBe(false);
  });
});

describe('where permissions are missing', () => {
  const tools = {
    move: { from: 'dir/file.txt', to: 'moved.txt' },
    delete: { file_path: 'dir/file.txt' },
    write: { file_path: 'dir/new.txt', content: 'x' },
  };

  test.each(Object.entries(tools).flatMap(([tool, args]) => [0o300, 0o500].map((mode) => [tool, mode, args] as const)))(
    '%s in a directory of mode %o succeeds or is refused as a whole',
    async (tool, mode, args) => {
      using directory = makeDirectory({ 'dir/file.txt': 'x' });
      giveToNobody(directory.at('dir'), directory.at('dir/file.txt'));
      chmodSync(directory.at('dir'), mode);
      const answer = await callAsNobody(directory.path, tool, args);
      chmodSync(directory.at('dir'), 0o700);
      expect(answer.structured.error.code).toBe('E_PERMISSION_DENIED');
      expect(readdirSync(directory.at('dir'))).toEqual(['file.txt']);
      expect(existsSync(directory.at('moved.txt'))).toBe(false);
    },
  );

  test('a move into a read-only directory names that directory', async () => {
    using directory = makeDirectory({ 'dir/x': 'x', 'file.txt': 'x' });
    giveToNobody(directory.at('dir'), directory.at('file.txt'));
    chmodSync(directory.at('dir'), 0o500);
    for (const to of ['dir/file.txt', 'dir/new/file.txt']) {
      const { structured } = await callAsNobody(directory.path, 'move', { from: 'file.txt', to });
      expect(structured.error).toMatchObject({ code: 'E_PERMISSION_DENIED', details: { path: to } });
    }
    chmodSync(directory.at('dir'), 0o700);
    expect(existsSync(directory.at('file.txt'))).toBe(true);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'a delete of a tree with a file of another user is refused as a matter of permission',
    async () => {
      using directory = makeDirectory({ 'shared/theirs.txt': 'x' });
      chmodSync(directory.at('shared'), 0o1777);
      const answer = await callAsNobody(directory.path, 'delete', { file_path: 'shared', recursive: true });
      expect(answer.structured.error.code).toBe('E_PERMISSION_DENIED');
      expect(existsSync(directory.at('shared/theirs.txt'))).toBe(true);
    },
  );
});
