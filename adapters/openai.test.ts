import { openaiSandbox, openaiTools } from '@croft/sdk/openai';
import { Agent, type AgentInputItem, Runner, RunState, setTracingDisabled } from '@openai/agents';
import { filesystem, SandboxAgent, shell } from '@openai/agents/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCroft, type TestCroft } from './fixture.ts';

setTracingDisabled(true);
let croft: TestCroft;
beforeAll(async () => {
  croft = await startCroft();
});
afterAll(() => croft[Symbol.asyncDispose]());

let calls = 0;
const call = (name: string, input: object) => [functionCall(name, { ...input }, { callId: `call-${++calls}` })];
type Patch = Extract<AgentInputItem, { type: 'apply_patch_call' }>['operation'];
const patch = (operation: Patch) => [
  { type: 'apply_patch_call' as const, callId: `call-${++calls}`, status: 'completed' as const, operation },
];
const say = (text: string) => [assistantMessage(text)];
const runner = new Runner({ tracingDisabled: true });
const outputsOf = (items: readonly AgentInputItem[]) =>
  JSON.stringify(items.filter(({ type }) => type === 'function_call_result' || type === 'apply_patch_call_output'));

test('a model reads, edits and runs, and sees what its calls answered', async () => {
  await using box = await croft.open();
  await box.files.write('a.txt', 'one\n');
  const model = new ScriptedModel([
    call('read', { file_path: 'a.txt' }),
    call('edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' }),
    call('bash', { command: 'cat a.txt; exit 3' }),
    call('read', { file_path: 'absent.txt' }),
    say('done'),
  ]);
  const agent = new Agent({ name: 'writer', model, tools: await openaiTools(box) });
  const result = await runner.run(agent, 'go');
  expect([result.finalOutput, await box.files.read('a.txt')]).toEqual(['done', 'two\n']);
  const shown = outputsOf(result.history);
  expect(shown).toContain('exitCode\\":3');
  expect(shown).toContain('E_FILE_NOT_FOUND: no such file or directory: absent.txt\\nNext: List the parent directory');
});

test.each([
  ['agrees', true],
  ['refuses', false],
] as const)('the person at the program %s', async (_, agrees) => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const model = new ScriptedModel([call('list', {}), call('bash', { command: 'echo ran > log' }), say('done')]);
  const newAgent = async () =>
    new Agent({ name: 'writer', model, tools: await openaiTools(box, { approvals: 'caller' }) });
  const first = await runner.run(await newAgent(), 'go');
  const [asked, ...others] = first.interruptions;
  expect([asked?.name, others]).toEqual(['bash', []]);
  expect(await box.files.exists('log')).toBe(false);
  // In another program, as after a restart.
  const agent = await newAgent();
  const state = await RunState.fromString(agent, first.state.toString());
  const [kept] = state.getInterruptions();
  if (kept) agrees ? state.approve(kept) : state.reject(kept);
  const second = await runner.run(agent, state);
  expect(second.finalOutput).toBe('done');
  expect(await box.files.exists('log')).toBe(agrees);
});

test('a call waits for the approval inbox, and the model sees a denial', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
  const model = new ScriptedModel([call('bash', { command: 'echo ran > log' }), say('done')]);
  const agent = new Agent({ name: 'writer', model, tools: await openaiTools(box) });
  const [result] = await Promise.all([runner.run(agent, 'go'), croft.decide('deny', 'not today')]);
  expect(outputsOf(result.history)).toMatch(/E_APPROVAL_DENIED.*not today/);
  expect(await box.files.exists('log')).toBe(false);
});

test('a call is ended by the signal of the run, with its process', async () => {
  await using box = await croft.open();
  const model = new ScriptedModel([call('bash', { command: 'touch begun; sleep 74131' }), say('done')]);
  const agent = new Agent({ name: 'writer', model, tools: await openaiTools(box) });
  const stop = new AbortController();
  const running = runner.run(agent, 'go', { signal: stop.signal }).catch((thrown: unknown) => thrown);
  await expect.poll(() => box.files.exists('begun')).toBe(true);
  stop.abort(new Error('enough'));
  await running;
  const isGone = async () => (await box.exec('pgrep -f "[s]leep 74131" || echo gone')).stdout;
  await expect.poll(isGone, { timeout: 20_000 }).toBe('gone\n');
});

test('a SandboxAgent has its shell and its patches in the box', async () => {
  await using box = await croft.open();
  await box.files.write('src/a.txt', 'one\ntwo\n');
  await box.files.write('old.txt', 'old\n');
  const root = await box.root();
  const model = new ScriptedModel([
    call('exec_command', { cmd: 'cat src/a.txt; pwd; exit 5' }),
    patch({ type: 'update_file', path: 'src/a.txt', diff: '@@\n one\n-two\n+three\n' }),
    patch({ type: 'create_file', path: `${root}/new.txt`, diff: '+made\n' }),
    patch({ type: 'update_file', path: 'absent.txt', diff: '@@\n-one\n+two\n' }),
    patch({ type: 'delete_file', path: 'old.txt' }),
    say('done'),
  ]);
  const agent = new SandboxAgent({ name: 'writer', model, capabilities: [shell(), filesystem()] });
  const session = await openaiSandbox(box);
  const result = await runner.run(agent, 'go', { sandbox: { session } });
  const shown = outputsOf(result.history);
  expect(shown).toContain('Process exited with code 5');
  expect(shown).toContain(root);
  expect(shown).toContain('no such file or directory: absent.txt');
  expect(await box.files.read('src/a.txt')).toBe('one\nthree\n');
  expect((await box.files.read('new.txt')).trimEnd()).toBe('made');
  expect(await box.files.exists('old.txt')).toBe(false);
});

test('the session of the sandbox reads and lists', async () => {
  await using box = await croft.open();
  const session = await openaiSandbox(box);
  await box.files.write('src/a.txt', 'one\n');
  const root = await box.root();
  expect(new TextDecoder().decode(await session.readFile({ path: 'src/a.txt', maxBytes: 2 }))).toBe('on');
  expect(await session.listDir({ path: root })).toEqual([{ name: 'src', path: `${root}/src`, type: 'dir' }]);
  expect([await session.pathExists('src'), await session.pathExists('absent')]).toEqual([true, false]);
  await expect(session.readFile({ path: 'absent' })).rejects.toMatchObject({ code: 'E_FILE_NOT_FOUND' });
  await expect(session.readFile({ path: '/etc/passwd' })).rejects.toMatchObject({ code: 'E_INVALID_PATH' });
});
