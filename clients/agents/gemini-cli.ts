import { gemini } from '../models/gemini.ts';
import { installed } from './installed.ts';
import { runAgent } from './run-agent.ts';

const settings = {
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
};

await runAgent({
  client: 'gemini',
  dialect: gemini,
  prepare: (model) => ({
    files: { '.gemini/settings.json': JSON.stringify(settings) },
    env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model },
    argv: [
      ...installed('gemini-cli'),
      // Without a model it asks another one which to take. Nobody is there to agree to a call.
      ...['--skip-trust', '--approval-mode', 'yolo', '--model', 'gemini-2.5-pro', '--prompt', 'Make the calls.'],
    ],
  }),
});
