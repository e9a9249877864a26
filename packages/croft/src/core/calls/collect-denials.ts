import { denialKey } from '../commands/denials/find-denials-in-output.ts';
import { renderDenials } from '../commands/denials/sandbox-denials.ts';
import type { SandboxDenial } from '../commands/sandbox.ts';
import { addNotices } from '../tools/result-notices.ts';
import type { ToolContext, ToolResult } from '../tools/tool.ts';

/**
 * The one channel for denials of programs that a tool runs. Reports each once per call as a violation, also after the
 * answer, and appends to the answer those that the tool does not show itself.
 */
export function collectDenials(reportViolation: (denial: SandboxDenial) => void) {
  const reported = new Set<string>();
  const notShown: SandboxDenial[] = [];
  const reportDenials: ToolContext['reportDenials'] = (denials, { areShown = false } = {}) => {
    for (const denial of denials.filter((one) => !reported.has(denialKey(one)))) {
      reported.add(denialKey(denial));
      if (!areShown) notShown.push(denial);
      reportViolation(denial);
    }
  };
  const append = (result: ToolResult): ToolResult =>
    notShown.length === 0 ? result : addNotices(result, [renderDenials(notShown)]);
  return { reportDenials, append };
}
