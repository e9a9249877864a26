import type { RunnerToken } from '../ports/registry.ts';

type RefusalCode = 'AUTH_FAILED' | 'FORBIDDEN';

interface RunnerAdmission {
  readonly token: RunnerToken | undefined;
  /** The name that the runner's operator gave it. */
  readonly name: string | undefined;
}

/** Returns why a machine may not connect, or `undefined`. Its identity comes from its token alone. */
export function findRunnerRefusal({
  token,
  name,
}: RunnerAdmission): { code: RefusalCode; message: string } | undefined {
  if (!token) {
    const message = 'the token is unknown, expired or revoked: make one with croft runners create';
    return { code: 'AUTH_FAILED', message };
  }
  if (name === undefined || name === token.name) return undefined;
  return { code: 'FORBIDDEN', message: `this token is of the runner ${token.name}, and not of ${name}` };
}
