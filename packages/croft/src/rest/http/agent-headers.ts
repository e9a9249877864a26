import { AppError } from '@croft/protocol';
import { resolveSessionName } from '../../core/sessions/session-name.ts';
import { isId } from '../../lib/ids.ts';

/** The headers that requests for an agent may have, with their descriptions for `openapi.json`. */
export const sessionHeaders = {
  'Croft-Session': 'The caller’s name for its session, or a child session’s own; without it, the default one',
  'Croft-Approval': 'The approval that this very call was given, as ap_…',
} as const;

export function readSession({ headers }: Request): string {
  const name = headers.get('croft-session');
  return resolveSessionName(name === null ? [] : [{ where: 'Croft-Session', name }]) ?? 'default';
}

export function readApproval({ headers }: Request): string | undefined {
  const approvalId = headers.get('croft-approval');
  if (approvalId === null) return undefined;
  if (isId('ap', approvalId)) return approvalId;
  throw new AppError('E_INVALID_INPUT', 'Croft-Approval takes the approvalId that a 202 answered, as ap_…', {
    details: { header: 'Croft-Approval' },
  });
}
