import { AppError, Scope } from '@croft/protocol';
import type { Actor } from '../ports/registry.ts';

/** Throws for scopes that the caller does not have: nobody may give out, or take over, more than their own. */
export function mustCoverScopes(actor: Actor, scopes: readonly string[], what: string): void {
  const lacking = scopes.filter((scope) => !actor.scopes.some((own) => own === '*' || own === scope));
  if (lacking.length === 0) return;
  throw new AppError('E_FORBIDDEN', `${what} may do more than you: ${lacking.join(', ')}`, {
    details: { lacking, scopes: actor.scopes },
    hint: 'Leave these scopes out, or use a key that has them.',
  });
}

/** Keeps the known scopes and ignores others. */
export function toScopes(stored: readonly string[]): Actor['scopes'] {
  return stored.flatMap((scope) => Scope.safeParse(scope).data ?? []);
}
