import { openaiChat } from '../models/openai-chat.ts';
import { installed } from './installed.ts';
import { runAgent } from './run-agent.ts';

const seesImages = { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } };

const settings = (model: string) => ({
  autoupdate: false,
  share: 'disabled',
  permission: 'allow',
  model: 'scripted/scripted',
  provider: {
    scripted: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${model}/v1`, apiKey: 'none' },
      models: { scripted: { tool_call: true, ...seesImages } },
    },
  },
});

await runAgent({
  client: 'opencode',
  dialect: openaiChat,
  prepare: (model) => ({
    files: { '.config/opencode/opencode.json': JSON.stringify(settings(model)) },
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    argv: [...installed('opencode'), 'run', '--pure', 'Make the calls.'],
  }),
});
