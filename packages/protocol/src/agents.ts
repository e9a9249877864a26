import { z } from 'zod';
import { Description, must, Name, NonEmpty, recordFields } from './fields.ts';
import { McpServers } from './mcp-servers.ts';

const maxWorkspaces = 100;

const MountName = NonEmpty.regex(/^[A-Za-z0-9._-]+$/, must('use only letters, numbers, dots, underscores, or hyphens'))
  .max(100, must('be at most 100 characters long'))
  .refine((name) => !/^\.+$/.test(name), must('have more than dots'));

/** Settings of the caller's own are kept, here as well. */
export const WorkspaceReference = z.looseObject(
  {
    name: MountName,
    workspaceId: NonEmpty,
    /** Left out: the agent's own. `null`: none. */
    sandbox: z.string(must('be a non-empty string or null')).min(1, must('be a non-empty string or null')).nullish(),
  },
  must('be an object'),
);

const maxTools = 200;

/** Names of tools and toolsets. Left out: every tool. */
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

/** An agent's config as a caller writes it. Croft reads these settings of it and keeps the others. */
export const AgentConfigInput = z.looseObject(
  {
    sandbox: NonEmpty.optional(),
    workspaces: WorkspaceReferences.optional(),
    /** Which tools the agent has; see docs/tools.md. */
    tools: ToolNames.optional(),
    /** Started in the sandbox of each session, for their tools. */
    mcpServers: McpServers.optional(),
    /** Whether those that `.mcp.json` of a workspace names are started too. */
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
