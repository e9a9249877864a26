import { openaiResponses } from '../models/openai-responses.ts';
import { prepareCodex } from './codex-settings.ts';
import { runAgent } from './run-agent.ts';

await runAgent({ client: 'codex', dialect: openaiResponses, prepare: prepareCodex('gpt-5.5') });
