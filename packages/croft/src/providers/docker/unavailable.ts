import { AppError } from '@croft/protocol';

export const name = 'docker';

export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider: name }, cause });
}

const noEngine =
  'Docker does not answer on this machine; install and start it (such as: apt-get install docker.io; systemctl start docker), ' +
  'or say where its socket is by CROFT_DOCKER_HOST';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: noEngine,
  ECONNREFUSED: noEngine,
  EACCES: "this server may not use Docker's socket; add its user to the group docker",
};

/** What an engine says itself is for an operator: it may name places of this machine. */
export function explainEngine(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const isLate = cause instanceof Error && (cause.name === 'TimeoutError' || code === 'ABORT_ERR');
  const reason = isLate ? 'Docker did not answer in time' : reasons[code];
  return unavailable(reason ?? 'Docker cannot make a sandbox on this machine', cause);
}
