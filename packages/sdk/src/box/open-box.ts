import type { Workspace } from '@croft/protocol';
import type { Client } from '../client/create-client.ts';
import type { Box } from './box.ts';
import { createBox } from './create-box.ts';
import { type BoxAgent, findAgent, findSandbox, findWorkspace, makeAgent, type SandboxConfig } from './find-records.ts';
import type { ApprovalPolicy } from './tool-caller.ts';

export interface OpenOptions {
  /** An agent of the account that has the workspace, by name or id: the box can do what the agent can. */
  readonly agent?: string | undefined;
  /**
   * A sandbox by name or id, or a configuration. Without `agent` only. Default: a sandbox without network in which
   * nobody is asked (`permissionMode: 'bypass'`).
   */
  readonly sandbox?: string | SandboxConfig | undefined;
  /** The name of the session. A box with the same session has its directory and its background commands. */
  readonly session?: string | undefined;
  /** Says what a call does that needs approval. Default: it waits. */
  readonly approvals?: ApprovalPolicy | undefined;
  /** Whether a missing workspace is created. Default: true. */
  readonly create?: boolean | undefined;
}

/** The account of workspaces that flags of the server name; it has one agent for them. */
const flagsAccount = 'local';
const flagsAgent = 'flags';

export interface BoxServer {
  readonly client: Client;
  /** The address for terminals. */
  baseUrl(): Promise<string>;
}

export async function openBox(server: BoxServer, name: string, options: OpenOptions = {}): Promise<Box> {
  const { client } = server;
  const { session, approvals = 'wait', create = true } = options;
  const workspace = await findWorkspace(client, name, create);
  const agent = await findBoxAgent(client, workspace, options);
  return createBox({
    ...{ ...server, agent, approvals, workspaceId: workspace.workspaceId, name: workspace.name },
    session: session ?? `box-${crypto.randomUUID()}`,
    isOwnSession: session === undefined,
    openFork: (fork) => openBox(server, fork, { ...options, session: undefined, create: false }),
  });
}

async function findBoxAgent(client: Client, workspace: Workspace, options: OpenOptions): Promise<BoxAgent> {
  if (options.agent !== undefined) return findAgent(client, options.agent, workspace);
  if (workspace.accountId === flagsAccount) return findAgent(client, flagsAgent, workspace);
  const { sandboxId } = await findSandbox(client, options.sandbox);
  return makeAgent(client, workspace, sandboxId);
}
