import { AgentConfigInput } from '@croft/protocol';
import { z } from 'zod';
import { allWorkspaces } from '../workspace-set.ts';
import { parseBody } from './parse-body.ts';
import { invalid } from './plain-json.ts';
import type { AgentConfig } from './registry.ts';

const Body = z.object({ config: AgentConfigInput });

/** Reads an agent's config, written by a caller or stored. What it gives reads as itself. */
export function parseAgentConfig(given: unknown): AgentConfig {
  const { config } = parseBody(Body, { config: given });
  const workspaces = config.workspaces ?? [];
  const index = workspaces.length > 1 ? workspaces.findIndex(({ name }) => name === allWorkspaces) : -1;
  if (index === -1) return config;
  const path = `config.workspaces[${index}].name`;
  throw invalid(`${path} "${allWorkspaces}" means every workspace; choose another name`, path);
}

/** The sandbox each workspace of an agent is used through, if any. */
export function effectiveSandboxes({ sandbox, workspaces = [] }: AgentConfig) {
  return workspaces.map((reference) => ({
    reference,
    sandboxId: reference.sandbox === null ? undefined : (reference.sandbox ?? sandbox),
  }));
}
