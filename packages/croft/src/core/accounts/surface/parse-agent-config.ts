import { AgentConfigInput } from '@croft/protocol';
import { z } from 'zod';
import { findUnknownTool } from '../../toolsets/select-tools.ts';
import { allWorkspaces } from '../../workspace/workspace-set.ts';
import { invalidArgument } from '../configs/invalid-argument.ts';
import { parseRequestBody } from '../configs/parse-request-body.ts';
import type { AgentConfig } from '../ports/registry.ts';

const Body = z.object({ config: AgentConfigInput });

/** Parses an agent's config, from a caller or from the records. Parsing the result again gives the same result. */
export function parseAgentConfig(given: unknown): AgentConfig {
  const { config } = parseRequestBody(Body, { config: given });
  const workspaces = config.workspaces ?? [];
  const index = workspaces.length > 1 ? workspaces.findIndex(({ name }) => name === allWorkspaces) : -1;
  if (index === -1) return config;
  const path = `config.workspaces[${index}].name`;
  throw invalidArgument(`${path} "${allWorkspaces}" means every workspace; choose another name`, path);
}

/**
 * Throws for a name that is neither a tool nor a toolset. Only for writes: an older record may name a tool that is
 * gone.
 */
export function mustNameTools({ tools }: AgentConfig, known: readonly string[]): void {
  const problem = tools && findUnknownTool(tools, known);
  if (problem !== undefined) throw invalidArgument(`config.tools: ${problem}`, 'config.tools');
}

/** Returns each workspace reference of an agent with the sandbox that applies to it, if any. */
export function effectiveSandboxes({ sandbox, workspaces = [] }: AgentConfig) {
  return workspaces.map((reference) => ({
    reference,
    sandboxId: reference.sandbox === null ? undefined : (reference.sandbox ?? sandbox),
  }));
}
