import { AppError } from '@croft/protocol';
import { cannotOpenHint } from '../../core/commands/sandbox.ts';
import { UnsafeDirectoryError } from '../../lib/files/temporary-base.ts';

export const providerName = 'docker';

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, {
    details: { provider: providerName },
    cause,
    hint: cannotOpenHint,
  });
}

const noEngine =
  'Docker does not answer on this machine; install and start it (such as: apt-get install docker.io; systemctl start docker), ' +
  'or say where its socket is by CROFT_DOCKER_HOST';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: noEngine,
  ECONNREFUSED: noEngine,
  EACCES: "this server may not use Docker's socket; add its user to the group docker",
};

/**
 * Hides the engine's own message from callers, because it may name paths of this machine. The operator finds it as the
 * cause.
 */
export function explainEngine(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  if (cause instanceof UnsafeDirectoryError) return unavailable(cause.message, cause);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const isLate = cause instanceof Error && (cause.name === 'TimeoutError' || code === 'ABORT_ERR');
  const reason = isLate ? 'Docker did not answer in time' : reasons[code];
  return unavailable(reason ?? 'Docker cannot make a sandbox on this machine', cause);
}
