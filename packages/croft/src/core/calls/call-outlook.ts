import { AppError, type CallOutlook } from '@croft/protocol';
import type { Tool, ToolResult } from '../tools/tool.ts';
import { checkAccess, needsApproval } from '../workspace/permission.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Turns what a call would do into words for a person. `ask` runs the call with `onlyAsks`. */
export async function toOutlook(tool: string, ask: () => Promise<ToolResult>): Promise<CallOutlook> {
  try {
    const { workspace } = (await ask()).structured as { readonly workspace?: unknown };
    const where = typeof workspace === 'string' ? { workspace } : {};
    return { outcome: 'runs', reason: 'this call needs no approval', tool, ...where };
  } catch (thrown) {
    if (AppError.is(thrown)) return toRefused(tool, thrown);
    throw thrown;
  }
}

function toRefused(tool: string, error: AppError): CallOutlook {
  const approval = error.details.approval as CallOutlook['approval'];
  if (error.code !== 'E_APPROVAL_REQUIRED' || !approval)
    return { outcome: 'refused', reason: error.message, tool, error: error.toJSON() };
  const about = { tool, workspace: approval.workspace, approval };
  return approval.state === 'approved'
    ? { outcome: 'runs', reason: 'a person has approved this very call', ...about }
    : { outcome: 'asks', reason: 'a person has to agree to this call', ...about };
}

const callKinds = ['read', 'search', 'write', 'run'] as const;
type CallKind = (typeof callKinds)[number];
type Verdict = 'runs' | 'asks' | 'no';

export function toFences(
  workspaces: readonly Workspace[],
  tools: readonly Tool[],
  onReadOnly: ReadonlySet<string> | undefined,
) {
  return workspaces.map((workspace) => ({ workspace, ...toWorkspaceFence(workspace, tools, onReadOnly) }));
}

/** Says what the tools of a toolbox may do in one workspace, by the same rules as a call. */
function toWorkspaceFence(workspace: Workspace, tools: readonly Tool[], onReadOnly: ReadonlySet<string> | undefined) {
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
