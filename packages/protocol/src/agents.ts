import { z } from 'zod';
import { Description, must, Name, NonEmpty, recordFields } from './field-schemas.ts';
import { McpServers } from './mcp-servers.ts';

const maxWorkspaces = 100;

const MountName = NonEmpty.regex(/^[A-Za-z0-9._-]+$/, must('use only letters, numbers, dots, underscores, or hyphens'))
  .max(100, must('be at most 100 characters long'))
  .refine((name) => !/^\.+$/.test(name), must('have more than dots'));

/** Unknown settings are stored for the caller, here too. */
export const WorkspaceReference = z.looseObject(
  {
    name: MountName,
    workspaceId: NonEmpty,
    /** The sandbox for this workspace. Default: the agent's own. `null`: none. */
    sandbox: z.string(must('be a non-empty string or null')).min(1, must('be a non-empty string or null')).nullish(),
  },
  must('be an object'),
);

const maxTools = 200;

/** Names of tools and toolsets. Default: every tool. */
const ToolNames = z
  .array(NonEmpty.max(100, must('be at most 100 characters long')), must('be an array'))
  .min(1, must('have at least one entry'))
  .max(maxTools, must(`have at most ${maxTools} entries`));

const WorkspaceReferences = z
  .array(WorkspaceReference, must('be an array'))
  .max(maxWorkspaces, must(`have at most ${maxWorkspaces} entries`))
  .superRefine((references, context) => {
    const names = references.map(({ name }) => name);
    names.forEach((name, index) => {
      if (names.indexOf(name) === index) return;
      const message = `config.workspaces[${index}].name "${name}" is used more than once`;
      context.addIssue({ code: 'custom', path: [index, 'name'], message });
    });
  });

/** An agent's config as a caller writes it. Croft uses these settings, and stores all others for the caller. */
export const AgentConfigInput = z.looseObject(
  {
    sandbox: NonEmpty.optional(),
    workspaces: WorkspaceReferences.optional(),
    /** The tools of the agent; see docs/tools.md. */
    tools: ToolNames.optional(),
    /** MCP servers to start in the sandbox of each session. The agent gets their tools. */
    mcpServers: McpServers.optional(),
    /** Whether MCP servers in the `.mcp.json` of a workspace are started too. */
    workspaceMcp: z.boolean(must('be true or false')).optional(),
  },
  must('be an object'),
);

export const CreateAgent = z.object(
  { name: Name, description: Description.nullish(), config: AgentConfigInput.prefault({}) },
  must('be an object'),
);

export const Agent = z.object({ ...recordFields, agentId: z.string(), config: AgentConfigInput });
export type Agent = z.output<typeof Agent>;
