import type { Approval } from '@croft/protocol';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { toCell } from '../output/print-rows.ts';

export const approvalColumns = {
  id: ({ approvalId }: Approval) => approvalId,
  state: ({ state }: Approval) => state,
  tool: ({ tool }: Approval) => tool,
  workspace: ({ workspace }: Approval) => workspace,
  expires: ({ expiresAt }: Approval) => expiresAt,
  what: ({ preview }: Approval) => preview.slice(0, 200),
};

/** Everything that a person has to see before a decision. */
export function renderApproval({ approvalId, state, tool, workspace, preview, ...more }: Approval): string {
  const { session, agentId, expiresAt, setting } = more;
  const controlFiles = setting?.controlFiles ?? [];
  const lines = [
    `${approvalId}  ${state}  ${tool} in ${workspace}, until ${expiresAt}`,
    `    agent ${agentId}, session ${session}${setting?.network === undefined ? '' : `, network ${setting.network}`}`,
    ...(controlFiles.length > 0 ? [`    changes control files: ${controlFiles.join(', ')}`] : []),
  ];
  return `${lines.map(toCell).join('\n')}\n${stripControlSequences(preview).replace(/^/gm, '    ')}\n`;
}
