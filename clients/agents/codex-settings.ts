import { installed } from './installed.ts';
import type { Agent } from './run-agent.ts';

/** Codex with one of the models that it knows: it knows how each of them calls tools, and how much of a result to show. */
export function prepareCodex(name: string): Agent['prepare'] {
  return (model) => ({
    files: { '.codex/config.toml': settings(name, model) },
    env: { SCRIPTED_KEY: 'none' },
    argv: [
      ...installed('codex'),
      ...['exec', '--strict-config', '--skip-git-repo-check', '--sandbox', 'read-only'],
      // What a person answers who is asked about the calls.
      ...['-c', 'mcp_servers.croft.default_tools_approval_mode="approve"', 'Make the calls.'],
    ],
  });
}

const settings = (name: string, model: string) => `
model = "${name}"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "${model}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
