import { openaiCodeMode } from '../models/openai-code-mode.ts';
import { prepareCodex } from './codex-settings.ts';
import { runAgent } from './run-agent.ts';

/** Newer models of Codex call tools from JavaScript. */
await runAgent({ client: 'codex', dialect: openaiCodeMode, prepare: prepareCodex('gpt-6.1-sol') });
