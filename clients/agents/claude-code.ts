import { anthropicMessages } from '../models/anthropic-messages.ts';
import { installed } from './installed.ts';
import { runAgent } from './run-agent.ts';

await runAgent({
  client: 'claude-code',
  dialect: anthropicMessages,
  prepare: (model) => ({
    env: {
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    argv: [...installed('claude-code'), '--print', 'Make the calls.', '--allowedTools', 'mcp__croft'],
  }),
});
