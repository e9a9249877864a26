import type { Session } from './session.ts';

/** Differs from an earlier mark if the session has changed since. */
export interface SessionFingerprint extends Pick<Session, 'reads' | 'workingDirectory'> {
  readonly revision: number;
  readonly shells: string;
}

export function toFingerprint({ reads, workingDirectory, shells }: Session): SessionFingerprint {
  const ids = shells.known().map(({ id }) => id);
  return { reads, workingDirectory, revision: reads.revision, shells: ids.join() };
}

export function isSameFingerprint(one: SessionFingerprint, other: SessionFingerprint | undefined): boolean {
  if (one.reads !== other?.reads || one.revision !== other.revision || one.shells !== other.shells) return false;
  return isSameDirectory(one.workingDirectory, other.workingDirectory);
}

export function isSameDirectory(one: Session['workingDirectory'], other: Session['workingDirectory']): boolean {
  return one?.workspace === other?.workspace && one?.path === other?.path;
}
