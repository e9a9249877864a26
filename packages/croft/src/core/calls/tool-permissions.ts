import type { Tool } from '../tools/tool.ts';
import { checkAccess, needsApproval } from '../workspace/permission.ts';
import type { Workspace } from '../workspace/workspace.ts';

const callKinds = ['read', 'search', 'write', 'run'] as const;
type CallKind = (typeof callKinds)[number];
type Verdict = 'runs' | 'asks' | 'no';

/** Says for each workspace which kinds of tools run, ask a person first, or are refused. */
export function toToolPermissions(
  workspaces: readonly Workspace[],
  tools: readonly Tool[],
  onReadOnly: ReadonlySet<string> | undefined,
) {
  return workspaces.map((workspace) => ({ workspace, ...toPermissionsIn(workspace, tools, onReadOnly) }));
}

/** Says what the tools of a toolbox may do in one workspace, by the same rules as a call. */
function toPermissionsIn(workspace: Workspace, tools: readonly Tool[], onReadOnly: ReadonlySet<string> | undefined) {
  const each = tools
    .filter(({ reach }) => reach !== 'none')
    .map((tool) => ({ name: tool.name, kind: kindOf(tool), verdict: judge(workspace, tool, onReadOnly) }));
  const kinds = Object.fromEntries(
    callKinds.map((kind) => [
      kind,
      strictest(
        workspace,
        each.filter((one) => one.kind === kind).map(({ verdict }) => verdict),
      ),
    ]),
  ) as Record<CallKind, { verdict: Verdict; reason: string }>;
  return { ...kinds, tools: each };
}

function judge(workspace: Workspace, tool: Tool, onReadOnly: ReadonlySet<string> | undefined): Verdict {
  try {
    checkAccess(workspace, tool, onReadOnly);
  } catch {
    return 'no';
  }
  return needsApproval(workspace.permission, tool) ? 'asks' : 'runs';
}

function kindOf({ access, toolset }: Tool): CallKind {
  if (access === 'execute') return 'run';
  if (access === 'write') return 'write';
  return toolset === 'search' || toolset === 'code' ? 'search' : 'read';
}

function strictest({ permission, access }: Workspace, verdicts: readonly Verdict[]) {
  const allowed = verdicts.filter((verdict) => verdict !== 'no');
  if (allowed.length === 0)
    return {
      verdict: 'no' as const,
      reason: access === 'read-only' ? 'the workspace is read-only' : 'there is no such tool',
    };
  const verdict = allowed.includes('asks') ? ('asks' as const) : ('runs' as const);
  return { verdict, reason: `permissionMode is ${permission}` };
}
