import { AppError } from '@croft/protocol';
import { isId } from '../lib/ids.ts';

/** What they mean, for the reader. */
export const sessionHeaders = {
  'Croft-Session': 'The caller’s name for its session; without it, the default one',
  'Croft-Approval': 'The approval that this very call was given, as ap_…',
} as const;

export function readSession({ headers }: Request): string {
  const name = headers.get('croft-session') ?? 'default';
  if (/^[\x21-\x7e]{1,128}$/.test(name)) return name;
  throw invalid('Croft-Session', 'takes 1 to 128 visible characters without spaces');
}

export function readApproval({ headers }: Request): string | undefined {
  const approvalId = headers.get('croft-approval');
  if (approvalId === null) return undefined;
  if (isId('ap', approvalId)) return approvalId;
  throw invalid('Croft-Approval', 'takes the approvalId that a 202 answered, as ap_…');
}

function invalid(header: string, rule: string): AppError {
  return new AppError('E_INVALID_INPUT', `${header} ${rule}`, { details: { header } });
}
