import { AppError, type ErrorCode } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { exitCodes } from './exit-codes.ts';

const byStatus: Readonly<Record<number, number>> = {
  401: exitCodes.notAllowed,
  403: exitCodes.notAllowed,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  410: exitCodes.notFound,
  412: exitCodes.conflict,
};

/** Codes whose status alone would mislead a script. */
const byCode: Partial<Record<ErrorCode, number>> = {
  E_INVALID_INPUT: exitCodes.usage,
  E_APPROVAL_REQUIRED: exitCodes.approval,
  E_APPROVAL_DENIED: exitCodes.approval,
  E_APPROVAL_EXPIRED: exitCodes.approval,
  // Waiting or looking again does not help against a quota.
  E_QUOTA: exitCodes.failed,
  E_STOPPING: exitCodes.unreachable,
  E_UNREACHABLE: exitCodes.unreachable,
  E_CONNECTION_LOST: exitCodes.unreachable,
  E_AMBIGUOUS: exitCodes.usage,
};

export function toExitCode(thrown: unknown): number {
  if (thrown instanceof UsageError) return exitCodes.usage;
  if (isUnreachable(thrown)) return exitCodes.unreachable;
  const { code, traits } = AppError.from(thrown);
  return byCode[code] ?? byStatus[traits.status] ?? exitCodes.failed;
}

/** `fetch` reports every failure of the connection as a `TypeError` with the reason in its cause. */
export function isUnreachable(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.cause instanceof Error;
}
