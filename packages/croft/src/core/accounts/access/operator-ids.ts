/**
 * The person of this server, who has the workspaces that flags name and no account. Their rows and approvals are stored
 * under this id.
 */
export const operatorId = 'local';

/** The one sandbox definition of the workspaces that flags name. */
export const flagsSandboxId = 'flags';

/** The agent of the workspaces that flags name, whichever client calls. */
export const flagsAgentId = 'flags';
