import type { Box } from '@croft/sdk';
import { aiTools } from '@croft/sdk/ai';
import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as ai6 from 'ai-6';
import { MockLanguageModelV3 } from 'ai-6/test';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCroft, type TestCroft } from './fixture.ts';
import { type Step, toAnswer } from './scripted-ai-model.ts';

let croft: TestCroft;
beforeAll(async () => {
  croft = await startCroft();
});
afterAll(() => croft[Symbol.asyncDispose]());

interface Turn {
  readonly text: string;
  /** What the person is asked before the turn goes on. */
  readonly asked: readonly { readonly approvalId: string; readonly toolName: string }[];
  /** All that the model was shown in its last request, as JSON. */
  readonly shown: string;
  /** The next turn, after the answers of the person to what was asked. */
  answer(approved: boolean, reason?: string): Promise<Turn>;
}

interface Options {
  readonly steps: readonly Step[];
  readonly approvals?: 'croft' | 'caller';
  readonly signal?: AbortSignal;
}

/** The same program with either version. Each turn makes its tools anew, as a server does for each request. */
const versions = {
  async 6(box: Box, { steps, approvals, signal }: Options) {
    const model = new MockLanguageModelV3({ doGenerate: steps.map(toAnswer) });
    const turn = async (messages: ai6.ModelMessage[]): Promise<Turn> => {
      const { tools, instructions } = await aiTools(box, { approvals });
      const options = { model, tools, system: instructions, messages, stopWhen: ai6.stepCountIs(10) };
      const result = await ai6.generateText({ ...options, ...(signal && { abortSignal: signal }) });
      const requests = result.content.filter((part) => part.type === 'tool-approval-request');
      return {
        text: result.text,
        asked: requests.map(({ approvalId, toolCall }) => ({ approvalId, toolName: toolCall.toolName })),
        shown: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt),
        answer: (approved, reason) => {
          const answers = requests.map(({ approvalId }) => ({
            ...{ type: 'tool-approval-response' as const, approvalId, approved },
            ...(reason !== undefined && { reason }),
          }));
          return turn([...messages, ...result.response.messages, { role: 'tool', content: answers }]);
        },
      };
    };
    return turn([{ role: 'user', content: 'go' }]);
  },
  async 7(box: Box, { steps, approvals, signal }: Options) {
    const model = new MockLanguageModelV4({ doGenerate: steps.map(toAnswer) });
    const turn = async (messages: ai7.ModelMessage[]): Promise<Turn> => {
      const { tools, toolApproval, instructions } = await aiTools(box, { approvals });
      const options = { model, tools, toolApproval, instructions, messages, stopWhen: ai7.stepCountIs(10) };
      const result = await ai7.generateText({ ...options, ...(signal && { abortSignal: signal }) });
      const requests = result.content.filter((part) => part.type === 'tool-approval-request');
      return {
        text: result.text,
        asked: requests.map(({ approvalId, toolCall }) => ({ approvalId, toolName: toolCall.toolName })),
        shown: JSON.stringify(model.doGenerateCalls.at(-1)?.prompt),
        answer: (approved, reason) => {
          const answers = requests.map(({ approvalId }) => ({
            ...{ type: 'tool-approval-response' as const, approvalId, approved },
            ...(reason !== undefined && { reason }),
          }));
          return turn([...messages, ...result.response.messages, { role: 'tool', content: answers }]);
        },
      };
    };
    return turn([{ role: 'user', content: 'go' }]);
  },
};

describe.each([6, 7] as const)('generateText of AI SDK %i', (version) => {
  const generate = versions[version];

  test('a model reads, edits and runs, and sees what its calls answered', async () => {
    await using box = await croft.open();
    await box.files.write('a.txt', 'one\n');
    const { text, shown } = await generate(box, {
      steps: [
        { call: 'read', input: { file_path: 'a.txt' } },
        { call: 'edit', input: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } },
        { call: 'bash', input: { command: 'cat a.txt; exit 3' } },
        { call: 'read', input: { file_path: 'absent.txt' } },
        { call: 'workspaces', input: {} },
        'done',
      ],
    });
    expect(text).toBe('done');
    expect(await box.files.read('a.txt')).toBe('two\n');
    expect(shown).toContain('"exitCode":3');
    expect(shown).toContain('E_FILE_NOT_FOUND: no such file or directory: absent.txt');
    expect(shown).toContain('Next: List the parent directory');
    expect(shown).toContain('"access":"read-write"');
    expect(shown).toContain('Read a file before you change it');
  });

  test('a model sees an image as an image', async () => {
    await using box = await croft.open();
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
    await box.files.write(
      'pixel.png',
      Uint8Array.from(atob(pixel), (letter) => letter.charCodeAt(0)),
    );
    const { shown } = await generate(box, { steps: [{ call: 'read', input: { file_path: 'pixel.png' } }, 'seen'] });
    expect(shown).toContain('"mediaType":"image/png"');
    expect(shown).toContain(pixel);
  });

  test('a call waits for the approval inbox, and runs', async () => {
    await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
    const [{ shown }, tool] = await Promise.all([
      generate(box, { steps: [{ call: 'bash', input: { command: 'echo ran | tee log' } }, 'done'] }),
      croft.decide('approve'),
    ]);
    expect([tool, await box.files.read('log')]).toEqual(['bash', 'ran\n']);
    expect(shown).toContain('ran');
  });

  test('a model sees the reason of a denial at the approval inbox', async () => {
    await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
    const [{ shown }] = await Promise.all([
      generate(box, { steps: [{ call: 'bash', input: { command: 'echo ran > log' } }, 'done'] }),
      croft.decide('deny', 'not on a Friday'),
    ]);
    expect(shown).toMatch(/E_APPROVAL_DENIED.*not on a Friday/);
    expect(await box.files.exists('log')).toBe(false);
  });

  test('the person at the program agrees, and only what was asked about runs', async () => {
    await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
    const edit = { call: 'write', input: { file_path: 'a.txt', content: 'new\n' } };
    const first = await generate(box, {
      steps: [{ call: 'list', input: {} }, edit, 'done'],
      approvals: 'caller',
    });
    expect(first.asked.map(({ toolName }) => toolName)).toEqual(['write']);
    expect(await box.files.exists('a.txt')).toBe(false);
    const second = await first.answer(true);
    expect([second.text, await box.files.read('a.txt')]).toEqual(['done', 'new\n']);
    const used = await croft.croft.client.approvals.list({ agentId: box.agentId });
    expect(used.approvals.map(({ state }) => state)).toEqual(['used']);
  });

  test('the person at the program refuses, and nothing runs', async () => {
    await using box = await croft.open({ sandbox: { permissionMode: 'ask' } });
    const steps = [{ call: 'bash', input: { command: 'echo ran > log' } }, 'understood'];
    const first = await generate(box, { steps, approvals: 'caller' });
    const second = await first.answer(false, 'not on a Friday');
    expect(second.text).toBe('understood');
    expect(second.shown).toContain('not on a Friday');
    expect(await box.files.exists('log')).toBe(false);
    expect((await croft.croft.client.approvals.list({ agentId: box.agentId })).approvals).toEqual([]);
  });

  test('nobody is asked about what the agent may do by itself', async () => {
    await using box = await croft.open();
    const { asked } = await generate(box, {
      steps: [{ call: 'bash', input: { command: 'echo ran > log' } }, 'done'],
      approvals: 'caller',
    });
    expect([asked, await box.files.read('log')]).toEqual([[], 'ran\n']);
  });

  test('a call is ended by the signal of the program, with its process', async () => {
    await using box = await croft.open();
    const stop = new AbortController();
    const steps = [{ call: 'bash', input: { command: 'touch begun; sleep 74123' } }, 'done'];
    const generated = generate(box, { steps, signal: stop.signal }).catch((thrown: unknown) => thrown);
    await expect.poll(() => box.files.exists('begun')).toBe(true);
    stop.abort(new Error('enough'));
    await generated;
    await expect
      .poll(async () => (await box.exec('pgrep -f "[s]leep 74123" || echo gone')).stdout, { timeout: 20_000 })
      .toBe('gone\n');
  });
});

test('tools are chosen by name, also those that are not listed', async () => {
  await using box = await croft.open();
  const { tools } = await aiTools(box, { only: ['read', 'run_command'] });
  expect(Object.keys(tools).sort()).toEqual(['read', 'run_command']);
  await expect(aiTools(box, { only: ['absent'] })).rejects.toMatchObject({ code: 'E_UNKNOWN_TOOL' });
  expect(Object.keys((await aiTools(box)).tools)).toEqual(expect.arrayContaining(['bash', 'edit', 'read']));
  expect(Object.keys((await aiTools(box)).tools)).not.toContain('run_command');
});

test('no approval is decided for a call that nobody was asked about', async () => {
  await using box = await croft.open({ sandbox: { permissionMode: 'ask' }, approvals: 'throw' });
  const { tools } = await aiTools(box, { approvals: 'caller', only: ['bash'] });
  const { bash } = tools;
  expect(await bash?.needsApproval?.({ command: 'echo one' }, { toolCallId: 'one' })).toBe(true);
  const other = bash?.execute({ command: 'echo two' }, { toolCallId: 'two' });
  await expect(other).rejects.toThrow('E_APPROVAL_REQUIRED');
  expect(await bash?.execute({ command: 'echo one' }, { toolCallId: 'one' })).toMatchObject({ exitCode: 0 });
  const again = bash?.execute({ command: 'echo one' }, { toolCallId: 'one' });
  await expect(again).rejects.toThrow('E_APPROVAL_REQUIRED');
});
