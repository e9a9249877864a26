import { AppError, type CallOutlook } from '@croft/protocol';
import type { ToolResult } from '../tools/tool.ts';

/** Says what a call would do, without doing it: run, ask a person, or be refused. `ask` runs the call with `onlyAsks`. */
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
