import { AppError } from '@croft/protocol';
import { type OutputForm, outputForms } from '../../core/calls/stream-output.ts';
import { resolveSessionName } from '../../core/sessions/session-name.ts';
import { isId } from '../../lib/ids.ts';

/** The headers that requests for an agent may have, with their descriptions for `openapi.json`. */
export const sessionHeaders = {
  'Croft-Session': 'The caller’s name for its session, or a child session’s own; without it, the default one',
  'Croft-Approval': 'The approval that this very call was given, as ap_…',
} as const;

export const callHeaders = {
  ...sessionHeaders,
  'Croft-Output':
    'How a call that is followed sends its output: text (default), bytes, which have control sequences too, or color, ' +
    'which are bytes of programs that are told to print colours',
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

/** Throws for a form that does not exist: without an error, a client would take text for bytes. */
export function readOutputForm({ headers }: Request): OutputForm {
  const wanted = headers.get('croft-output') ?? 'text';
  const form = outputForms.find((known) => known === wanted);
  if (form) return form;
  throw new AppError('E_INVALID_INPUT', `Croft-Output takes ${outputForms.join(', ')}, not ${wanted.slice(0, 40)}`, {
    details: { header: 'Croft-Output' },
  });
}
