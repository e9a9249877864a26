import { croft } from '../drivers/cases.ts';
import { anthropicMessages } from '../models/anthropic-messages.ts';
import { installed } from './installed.ts';
import { runAgent } from './run-agent.ts';

const servers = { mcpServers: { croft: { type: 'stdio', command: croft.command, args: croft.args } } };

await runAgent({
  dialect: anthropicMessages,
  prepare: (model) => ({
    env: {
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    },
    argv: [
      ...installed('claude-code'),
      ...['--print', 'Make the calls.', '--mcp-config', JSON.stringify(servers), '--strict-mcp-config'],
      ...['--allowedTools', 'mcp__croft'],
    ],
  }),
});
