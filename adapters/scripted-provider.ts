import { customProvider } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { toAnswer } from './scripted-ai-model.ts';

/** Loaded before an example: its model, by name, is this one. */
const model = new MockLanguageModelV4({
  doGenerate: [
    toAnswer({ call: 'write', input: { file_path: 'greeting.txt', content: 'hello\n' } }),
    toAnswer({ call: 'bash', input: { command: 'grep hello greeting.txt' } }),
    toAnswer('hello is there'),
  ],
});
globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { 'anthropic/claude-sonnet-4.5': model } });
