import { AppError } from '@croft/protocol';
import { findNarrowing, type GrantedAccess } from '../../core/accounts/surface/find-narrowing.ts';
import type { SessionLimits } from '../../core/accounts/surface/session-limits.ts';
import { narrowSurface } from '../../core/accounts/surface/session-limits.ts';
import type { OpenedAgent } from './open-agent.ts';

/** The access of a runtime's sessions: the agent's access within the session limits, and the account's secrets. */
export interface RuntimeGrants {
  readonly granted: GrantedAccess;
  readonly sessionLimits: SessionLimits | undefined;
  readonly secrets: ReadonlyMap<string, string>;
}

/** Describes what the sessions of a runtime have lost since they were granted it. Empty if they lost nothing. */
export function findLostAccess({ granted, sessionLimits }: RuntimeGrants, now: OpenedAgent): string[] {
  try {
    const surface = sessionLimits ? narrowSurface(now.surface, sessionLimits) : now.surface;
    return findNarrowing(granted, { surface, config: now.agent.config });
  } catch (thrown) {
    // The session limits name something that the agent no longer has.
    return [AppError.from(thrown).message];
  }
}

/** Names of secrets that now have another value, or none. */
export function changedSecrets(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  return [...before].filter(([name, value]) => after.get(name) !== value).map(([name]) => name);
}

export function interrupted(reasons: readonly string[]): AppError {
  const message = `everything that ran in this session was ended, because ${reasons.join('; ')}`;
  return new AppError('E_INTERRUPTED', message, { details: { reasons } });
}

export function secretChanged(name: string): AppError {
  return interrupted([`it was given the secret ${name}, which was changed or removed`]);
}
