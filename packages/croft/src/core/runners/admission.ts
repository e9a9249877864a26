import type { RunnerToken } from '../accounts/registry.ts';

export type RefusalCode = 'AUTH_FAILED' | 'INVALID' | 'FORBIDDEN' | 'VERSION';

export interface Admission {
  readonly token: RunnerToken | undefined;
  /** What its operator takes it for. */
  readonly name: string | undefined;
}

/** Why a machine may not connect. Who it is comes from its token alone. */
export function findRefusal({ token, name }: Admission): { code: RefusalCode; message: string } | undefined {
  if (!token) {
    const message = 'the token is unknown, expired or revoked: make one with croft runners create';
    return { code: 'AUTH_FAILED', message };
  }
  if (name === undefined || name === token.name) return undefined;
  return { code: 'FORBIDDEN', message: `this token is of the runner ${token.name}, and not of ${name}` };
}
