import { AppError } from '@croft/protocol';
import { operator } from '../../app/records/local-approval-gate.ts';
import { openLocalApprovals } from '../../app/records/local-approvals.ts';
import type { ApprovalView } from '../../core/accounts/ports/registry.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { toExitCode } from '../output/to-exit-code.ts';
import { findServerKeys } from '../server-keys.ts';

const usage = 'croft approvals [list | approve ID | deny ID] [--reason TEXT] [--for-session] [--data DIR]';

export const approvals = defineCommand({
  name: 'approvals',
  usage,
  options: {
    data: { type: 'string', value: 'DIR', summary: 'the data directory of croft' },
    reason: { type: 'string', value: 'TEXT', summary: 'the reason, which the agent is told' },
    'for-session': { type: 'boolean', summary: 'approve every call of that session that is exactly the same' },
    json: { type: 'boolean', summary: 'print JSON' },
  },
  async run({ values, positionals }, terminal) {
    const { action, id } = toChoice(positionals);
    const config = terminal.config();
    const data = values.data ?? config.data;
    const keys = findServerKeys(data, config.keys);
    const local = await openLocalApprovals({ data, keys, emit: () => {} }).catch((thrown) => {
      throw new UsageError(`records: ${errorMessage(thrown)}`);
    });
    try {
      const scope = values['for-session'] ? 'session' : 'once';
      const body = { decision: action, reason: values.reason, scope };
      const shown = id
        ? [await local.approvalInbox.decide(operator, id, body)]
        : (await local.approvalInbox.list(operator, { state: 'pending' }, { limit: 200 })).rows;
      print(shown, values.json ?? false, terminal);
      return 0;
    } catch (thrown) {
      const error = AppError.from(thrown);
      if (error.code === 'E_INTERNAL') throw thrown;
      terminal.stderr.write(`${error.code}: ${error.text}\n`);
      return toExitCode(error);
    } finally {
      await local.close();
    }
  },
});

function toChoice([action = 'list', id, ...rest]: readonly string[]) {
  const isDecision = action === 'approve' || action === 'deny';
  if (rest.length === 0 && isDecision === (id !== undefined) && (isDecision || action === 'list'))
    return { action, id };
  throw new UsageError(`usage: ${usage}`);
}

function print(views: readonly ApprovalView[], isJson: boolean, { stdout }: CommandContext): void {
  if (isJson) stdout.write(`${JSON.stringify({ approvals: views })}\n`);
  else if (views.length === 0) stdout.write('nothing waits for an approval\n');
  else for (const view of views) stdout.write(`${render(view)}\n`);
}

function render({ approvalId, state, tool, workspace, expiresAt, preview }: ApprovalView): string {
  const text = preview.replace(/^/gm, '    ');
  return `${approvalId}  ${state}  ${tool} in ${workspace}, until ${expiresAt}\n${text}`;
}
