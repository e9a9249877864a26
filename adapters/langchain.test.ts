import { deepagentsBackend, langchainTools } from '@croft/sdk/langchain';
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createDeepAgent, type SandboxBackendProtocolV2 } from 'deepagents';
import { createAgent } from 'langchain';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCroft, type TestCroft } from './fixture.ts';

let croft: TestCroft;
beforeAll(async () => {
  croft = await startCroft();
});
afterAll(() => croft[Symbol.asyncDispose]());

const go = { messages: [{ role: 'user', content: 'go' }] };
const call = (name: string, args: object) => [{ name, args: { ...args } }];

test('a model reads, edits and runs, and sees what its calls answered', async () => {
  await using box = await croft.open();
  await box.files.write('a.txt', 'one\n');
  const model = fakeModel()
    .respondWithTools(call('read', { file_path: 'a.txt' }))
    .respondWithTools(call('edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }))
    .respondWithTools(call('bash', { command: 'cat a.txt; exit 3' }))
    .respond(new AIMessage('done'));
  const agent = createAgent({ model, tools: await langchainTools(box) });
  const { messages } = await agent.invoke(go);
  expect(await box.files.read('a.txt')).toBe('two\n');
  expect(JSON.stringify(messages)).toContain('exitCode\\":3');
});

test('a missing file is an error with the next step', async () => {
  await using box = await croft.open();
  const [read] = await langchainTools(box, { only: ['read'] });
  const reading = read?.invoke({ file_path: 'absent.txt' });
  await expect(reading).rejects.toThrow(/E_FILE_NOT_FOUND: no such file or directory: absent.txt\nNext: List/);
});

test('a call waits for the approval inbox', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const [bash] = await langchainTools(box, { only: ['bash'] });
  const [answer] = await Promise.all([bash?.invoke({ command: 'echo ran | tee log' }), croft.decide('approve')]);
  expect(JSON.parse(String(answer))).toMatchObject({ exitCode: 0 });
  const denied = bash?.invoke({ command: 'rm log' });
  await Promise.all([expect(denied).rejects.toThrow('keep it'), croft.decide('deny', 'keep it')]);
  expect(await box.files.read('log')).toBe('ran\n');
});

test('a call is ended by its signal, with its process', async () => {
  await using box = await croft.open();
  const [bash] = await langchainTools(box, { only: ['bash'] });
  const stop = new AbortController();
  const running = bash?.invoke({ command: 'touch begun; sleep 74133' }, { signal: stop.signal });
  const ended = expect(running).rejects.toThrow();
  await expect.poll(() => box.files.exists('begun')).toBe(true);
  stop.abort(new Error('enough'));
  await ended;
  const isGone = async () => (await box.exec('pgrep -f "[s]leep 74133" || echo gone')).stdout;
  await expect.poll(isGone, { timeout: 20_000 }).toBe('gone\n');
});

test('a deep agent has its files and its shell in the box', async () => {
  await using box = await croft.open();
  await box.files.write('src/a.txt', 'one\n');
  const root = await box.root();
  const model = fakeModel()
    .respondWithTools(call('ls', { path: '/' }))
    .respondWithTools(call('read_file', { file_path: '/src/a.txt' }))
    .respondWithTools(call('edit_file', { file_path: `${root}/src/a.txt`, old_string: 'one', new_string: 'two' }))
    .respondWithTools(call('write_file', { file_path: '/b.txt', content: 'new\n' }))
    .respondWithTools(call('execute', { command: 'cat src/a.txt b.txt; exit 3' }))
    .respondWithTools(call('read_file', { file_path: '/absent.txt' }))
    .respond(new AIMessage('done'));
  const backend: SandboxBackendProtocolV2 = deepagentsBackend(box);
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke(go);
  const shown = JSON.stringify(messages);
  expect(await box.files.read('src/a.txt')).toBe('two\n');
  expect(await box.files.read('b.txt')).toBe('new\n');
  expect(shown).toContain(`${root}/src`);
  expect(shown).toMatch(/two\\+nnew/);
  expect(shown).toContain('E_FILE_NOT_FOUND');
});

test('the backend searches, uploads and downloads', async () => {
  await using box = await croft.open();
  const backend: SandboxBackendProtocolV2 = deepagentsBackend(box);
  const root = await box.root();
  const bytes = new Uint8Array([0, 255, 10]);
  const uploaded = await backend.uploadFiles?.([
    ['/src/a.ts', new TextEncoder().encode('const one = (1);\n')],
    ['b.bin', bytes],
  ]);
  expect(uploaded?.map(({ error }) => error)).toEqual([null, null]);
  expect(await backend.downloadFiles?.(['b.bin', 'absent', '../out'])).toEqual([
    { path: 'b.bin', content: bytes, error: null },
    { path: 'absent', content: null, error: 'file_not_found' },
    { path: '../out', content: null, error: 'invalid_path' },
  ]);
  expect(await backend.grep('(1)', '/')).toMatchObject({ matches: [{ path: `${root}/src/a.ts`, line: 1 }] });
  expect(await backend.glob('**/*.ts', '/')).toMatchObject({ files: [{ path: `${root}/src/a.ts`, size: 17 }] });
  expect(await backend.read('/src/a.ts', 0, 1)).toMatchObject({ content: 'const one = (1);', totalLines: 1 });
  expect(await backend.edit('/src/a.ts', 'two', '2')).toMatchObject({ error: expect.stringContaining('E_NO_MATCH') });
  expect(await backend.delete?.('/src')).toMatchObject({ path: '/src' });
  expect(await backend.ls('/src')).toMatchObject({ error: expect.stringContaining('E_FILE_NOT_FOUND') });
  expect(await backend.execute('kill -9 $$')).toMatchObject({ exitCode: 137 });
});

test('a person is asked before a deep agent changes a file', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const backend = deepagentsBackend(box);
  const [denied, tool] = await Promise.all([backend.write('/a.txt', 'new'), croft.decide('deny', 'no')]);
  expect([tool, denied]).toEqual(['write', { error: expect.stringContaining('E_APPROVAL_DENIED') }]);
  expect(await box.files.exists('a.txt')).toBe(false);
});
