import { aiSandbox } from '@croft/sdk/ai';
import { generateText, type Experimental_SandboxSession as SandboxSession, stepCountIs, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startCroft, type TestCroft } from './fixture.ts';
import { toAnswer } from './scripted-ai-model.ts';

let croft: TestCroft;
beforeAll(async () => {
  croft = await startCroft();
});
afterAll(() => croft[Symbol.asyncDispose]());

test('a tool of the program has the sandbox of the box', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  const shell = tool({
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }, { experimental_sandbox }) => experimental_sandbox?.run({ command }),
  });
  const model = new MockLanguageModelV4({
    doGenerate: [toAnswer({ call: 'shell', input: { command: 'echo from the sandbox' } }), toAnswer('done')],
  });
  await generateText({
    ...{ model, tools: { shell }, prompt: 'go', stopWhen: stepCountIs(3), experimental_sandbox: sandbox },
  });
  expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)).toContain('from the sandbox');
});

test('files: written, read, listed and deleted, by paths from the root and absolute ones', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  const root = await box.root();
  await sandbox.writeTextFile({ path: 'src/a.txt', content: 'one\ntwo\nthree\n' });
  await sandbox.writeTextFile({ path: `${root}/src/a.txt`, content: 'one\ntwo\nthree\nfour\n' });
  expect(await sandbox.readTextFile({ path: './src/../src/a.txt', startLine: 2, endLine: 3 })).toBe('two\nthree\n');
  // The agent has not read this one.
  await box.files.write('other.txt', 'theirs');
  await sandbox.writeTextFile({ path: 'other.txt', content: 'ours' });
  expect(await box.files.read('other.txt')).toBe('ours');
  const bytes = new Uint8Array([0, 255, 254, 10]);
  await sandbox.writeBinaryFile({ path: 'b.bin', content: bytes });
  await sandbox.writeFile({ path: 'c.bin', content: new Blob([bytes]).stream() });
  expect(await sandbox.readBinaryFile({ path: 'b.bin' })).toEqual(bytes);
  const stream = await sandbox.readFile({ path: 'c.bin' });
  expect(new Uint8Array(await new Response(stream).arrayBuffer())).toEqual(bytes);
  expect(await sandbox.stat({ path: 'src' })).toMatchObject({ type: 'directory' });
  expect(await sandbox.stat({ path: 'src/a.txt' })).toEqual({ type: 'file', size: 19 });
  expect(await sandbox.listDirectory({ path: 'src' })).toEqual([{ name: 'a.txt', type: 'file' }]);
  await expect(sandbox.listDirectory({ path: 'b.bin' })).rejects.toThrow('E_NOT_A_DIRECTORY');
  await expect(sandbox.writeTextFile({ path: 'src', content: '' })).rejects.toThrow('E_NOT_A_FILE');
  expect(await sandbox.deleteFile({ path: 'b.bin' })).toBe(true);
  expect(await sandbox.deleteFile({ path: 'b.bin' })).toBe(false);
});

test('a missing file is null', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  const path = 'absent/a.txt';
  expect(await sandbox.readFile({ path })).toBeNull();
  expect(await sandbox.readBinaryFile({ path })).toBeNull();
  expect(await sandbox.readTextFile({ path })).toBeNull();
  expect(await sandbox.stat({ path })).toBeNull();
  expect(await sandbox.listDirectory({ path })).toBeNull();
});

test('a path outside of the workspace is refused, and a link that leads there too', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  await expect(sandbox.readTextFile({ path: '/etc/passwd' })).rejects.toThrow('E_INVALID_PATH');
  await expect(sandbox.readTextFile({ path: '../../etc/passwd' })).rejects.toThrow('E_INVALID_PATH');
  await box.exec('ln -s /etc/passwd link');
  await expect(sandbox.readTextFile({ path: 'link' })).rejects.toThrow(/E_/);
});

test('commands: their ends, their directory and their variables', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  await sandbox.writeTextFile({ path: 'src/a.txt', content: '' });
  expect(await sandbox.run({ command: 'echo out; echo err >&2; exit 3' })).toEqual({
    ...{ exitCode: 3, stdout: 'out\n', stderr: 'err\n' },
  });
  const options = { workingDirectory: 'src', env: { WHO: "it's me" } };
  expect((await sandbox.run({ command: 'ls; echo "$WHO"', ...options })).stdout).toBe("a.txt\nit's me\n");
  expect((await sandbox.run({ command: 'kill -9 $$' })).exitCode).toBe(137);
  expect((await sandbox.run({ command: 'pwd', workingDirectory: '/tmp' })).stdout).toBe('/tmp\n');
});

test('a command is ended by its signal, with its process', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  const stop = new AbortController();
  const running = sandbox.run({ command: 'touch begun; sleep 74125', abortSignal: stop.signal });
  await expect.poll(() => box.files.exists('begun')).toBe(true);
  stop.abort(new Error('enough'));
  await expect(running).rejects.toThrow('enough');
  await expect.poll(async () => (await sandbox.run({ command: 'pgrep -f "[s]leep 74125"' })).exitCode).toBe(1);
});

test('a spawned command streams what it prints, and ends by itself, by kill or by its signal', async () => {
  await using box = await croft.open();
  const sandbox: SandboxSession = aiSandbox(box);
  const spawned = await sandbox.spawn({ command: 'echo one; echo two >&2; exit 4' });
  expect(await new Response(spawned.stdout).text()).toBe('one\ntwo\n');
  expect(await spawned.wait()).toEqual({ exitCode: 4 });

  const killed = await sandbox.spawn({ command: 'echo begun; sleep 74127' });
  expect(new TextDecoder().decode((await killed.stdout.getReader().read()).value)).toBe('begun\n');
  await killed.kill();
  expect(await killed.wait()).toEqual({ exitCode: 137 });

  const stop = new AbortController();
  const aborted = await sandbox.spawn({ command: 'sleep 74129', abortSignal: stop.signal });
  stop.abort(new Error('enough'));
  await expect(aborted.wait()).rejects.toThrow('enough');
  await expect.poll(async () => (await sandbox.run({ command: 'pgrep -f "[s]leep 7412"' })).exitCode).toBe(1);
  await expect(sandbox.spawn({ command: 'cat', stdin: true })).rejects.toThrow('leave out stdin');
});

test('a person is asked before a file is changed, and bytes that nobody can read are refused', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const sandbox: SandboxSession = aiSandbox(box);
  const written = sandbox.writeTextFile({ path: 'a.txt', content: 'new' });
  expect(await croft.decide('approve')).toBe('write');
  await written;
  const denied = sandbox.deleteFile({ path: 'a.txt' });
  const [tool] = await Promise.all([croft.decide('deny', 'keep it'), expect(denied).rejects.toThrow('keep it')]);
  expect([tool, await box.files.read('a.txt')]).toEqual(['delete', 'new']);
  const bytes = sandbox.writeBinaryFile({ path: 'b.bin', content: new Uint8Array([255]) });
  await expect(bytes).rejects.toThrow('is not text in UTF-8');
});
