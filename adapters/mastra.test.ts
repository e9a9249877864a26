import { mastraFilesystem, mastraSandbox } from '@croft/sdk/mastra';
import {
  createWorkspaceTools,
  DirectoryNotEmptyError,
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  IsDirectoryError,
  NotDirectoryError,
  StaleFileError,
  Workspace,
} from '@mastra/core/workspace';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCroft, type TestCroft } from './fixture.ts';

let croft: TestCroft;
beforeAll(async () => {
  croft = await startCroft();
});
afterAll(() => croft[Symbol.asyncDispose]());

test('a workspace of Mastra gives its agent files and commands of the box', async () => {
  await using box = await croft.open();
  const workspace = new Workspace({ filesystem: mastraFilesystem(box), sandbox: mastraSandbox(box) });
  await workspace.init();
  const tools = await createWorkspaceTools(workspace);
  const use = async (name: string, input: object) => {
    const tool = Object.entries(tools).find(([id]) => id.endsWith(name))?.[1];
    if (!tool?.execute) throw new Error(`no tool ${name}: ${Object.keys(tools)}`);
    return JSON.stringify(await tool.execute(input, { workspace }));
  };
  expect(await use('write_file', { path: '/src/a.txt', content: 'one\n' })).toContain('a.txt');
  expect(await use('read_file', { path: '/src/a.txt' })).toContain('one');
  expect(await use('edit_file', { path: '/src/a.txt', old_string: 'one', new_string: 'two' })).toContain('a.txt');
  expect(await use('list_files', { path: '/' })).toContain('a.txt');
  expect(await use('file_stat', { path: '/absent.txt' })).toContain('not found');
  expect(await use('execute_command', { command: 'cat src/a.txt; exit 3' })).toMatch(/two.*3/s);
  expect(await box.files.read('src/a.txt')).toBe('two\n');
});

test('files, with the errors of Mastra', async () => {
  await using box = await croft.open();
  const files = mastraFilesystem(box);
  await files.writeFile('/src/a.txt', 'one\n');
  await files.appendFile('/src/a.txt', 'two\n');
  expect(await files.readFile('/src/a.txt', { encoding: 'utf-8' })).toBe('one\ntwo\n');
  expect(await files.readFile(`${await box.root()}/src/a.txt`)).toEqual(Buffer.from('one\ntwo\n'));
  await files.copyFile('/src/a.txt', '/b.txt');
  await files.moveFile('/b.txt', '/c.txt');
  await files.mkdir('/empty/er');
  expect((await files.readdir('/')).map(({ name, type }) => [name, type]).sort()).toEqual([
    ['c.txt', 'file'],
    ['empty', 'directory'],
    ['src', 'directory'],
  ]);
  const deep = (await files.readdir('/', { recursive: true, extension: '.txt' })).map(({ name }) => name);
  expect(deep).toEqual(expect.arrayContaining(['c.txt', 'src/a.txt']));
  expect(await files.stat('/src/a.txt')).toMatchObject({ name: 'a.txt', type: 'file', size: 8 });
  expect([await files.exists('/src'), await files.exists('/absent')]).toEqual([true, false]);

  const failures: [() => Promise<unknown>, new (...given: never[]) => Error][] = [
    [() => files.readFile('/absent'), FileNotFoundError],
    [() => files.stat('/absent'), FileNotFoundError],
    [() => files.deleteFile('/absent'), FileNotFoundError],
    [() => files.readFile('/src'), IsDirectoryError],
    [() => files.deleteFile('/src'), IsDirectoryError],
    [() => files.readdir('/absent'), DirectoryNotFoundError],
    [() => files.readdir('/c.txt'), NotDirectoryError],
    [() => files.rmdir('/src'), DirectoryNotEmptyError],
    [() => files.rmdir('/absent'), DirectoryNotFoundError],
    [() => files.writeFile('/c.txt', '', { overwrite: false }), FileExistsError],
    [() => files.copyFile('/c.txt', '/src/a.txt', { overwrite: false }), FileExistsError],
    [() => files.mkdir('/c.txt'), FileExistsError],
    [() => files.writeFile('/c.txt', '', { expectedMtime: new Date(0) }), StaleFileError],
  ];
  for (const [fail, kind] of failures) await expect(fail(), String(fail)).rejects.toBeInstanceOf(kind);
  await files.deleteFile('/absent', { force: true });
  await files.rmdir('/src', { recursive: true });
  expect(await files.exists('/src')).toBe(false);
});

test('commands: their ends, words, variables, time and signal', async () => {
  await using box = await croft.open();
  const sandbox = mastraSandbox(box);
  const seen: string[] = [];
  const run = sandbox.executeCommand('printf', ['%s|', "it's", '$HOME'], { onStdout: (text) => seen.push(text) });
  expect(await run).toMatchObject({ success: true, exitCode: 0, stdout: "it's|$HOME|" });
  expect(seen).toEqual(["it's|$HOME|"]);
  expect(await sandbox.executeCommand('echo $WHO; exit 3', [], { env: { WHO: 'me' } })).toMatchObject({
    ...{ success: false, exitCode: 3, stdout: 'me\n' },
  });
  expect(await sandbox.executeCommand('sleep 74135', [], { timeout: 500 })).toMatchObject({ timedOut: true });
  const stop = new AbortController();
  const running = sandbox.executeCommand('touch begun; sleep 74137', [], { abortSignal: stop.signal });
  const ended = expect(running).rejects.toThrow('enough');
  await expect.poll(() => box.files.exists('begun')).toBe(true);
  stop.abort(new Error('enough'));
  await ended;
  const isGone = async () => (await box.exec('pgrep -f "[s]leep 7413[57]" || echo gone')).stdout;
  await expect.poll(isGone, { timeout: 20_000 }).toBe('gone\n');
  await sandbox.destroy();
  expect(sandbox.isReady()).toBe(false);
});

test('background processes: started, read, given input, ended by their time and killed, with everything that they started', async () => {
  await using box = await croft.open();
  const workspace = new Workspace({ filesystem: mastraFilesystem(box), sandbox: mastraSandbox(box) });
  await workspace.init();
  const tools = await createWorkspaceTools(workspace);
  const use = async (name: string, input: object) => {
    const tool = Object.entries(tools).find(([id]) => id.endsWith(name))?.[1];
    if (!tool?.execute) throw new Error(`no tool ${name}: ${Object.keys(tools)}`);
    return String(await tool.execute(input, { workspace }));
  };
  const command = 'echo begun; sleep 4711 & read -r line; echo "got $line"; exit 3';
  const pid = /PID: (\S+)\)/.exec(await use('execute_command', { command, background: true }))?.[1] ?? '';
  const { processes } = mastraSandbox(box);
  expect(await use('get_process_output', { pid: 'none' })).toContain('No background process');
  await expect.poll(() => use('get_process_output', { pid })).toContain('begun');
  const own = await processes.spawn('read -r line; echo "got $line"; exit 3');
  expect(await processes.list()).toEqual([{ pid: own.pid, command: expect.stringContaining('read'), running: true }]);
  await own.sendStdin('a line\n');
  expect(await own.wait()).toMatchObject({ exitCode: 3, stdout: 'got a line\n', success: false, timedOut: false });
  const slow = await processes.spawn('sleep 4712', { timeout: 300 });
  expect(await slow.wait()).toMatchObject({ exitCode: 124, timedOut: true, killed: true });
  expect(await use('kill_process', { pid })).toMatch(/has been killed[\s\S]*begun/);
  const { stdout } = await box.exec('cat /proc/[0-9]*/cmdline | tr "\\0" " " | grep -c "sleep 471[12]" || true');
  expect(stdout).toBe('0\n');
});

test('a person is asked before a file is changed', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const files = mastraFilesystem(box);
  const written = files.writeFile('/a.txt', 'new');
  await Promise.all([expect(written).rejects.toThrow('not today'), croft.decide('deny', 'not today')]);
  expect(await files.exists('/a.txt')).toBe(false);
});
