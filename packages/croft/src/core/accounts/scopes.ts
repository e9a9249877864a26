import { AppError, Scope } from '@croft/protocol';
import type { Actor } from './registry.ts';

/** Nobody hands out, or gets hold of, more than they have themselves. */
export function mustCover(actor: Actor, scopes: readonly string[], what: string): void {
  const lacking = scopes.filter((scope) => !actor.scopes.some((own) => own === '*' || own === scope));
  if (lacking.length === 0) return;
  throw new AppError('E_FORBIDDEN', `${what} may do more than you: ${lacking.join(', ')}`, {
    details: { lacking, scopes: actor.scopes },
  });
}

/** Those that are known; another means nothing. */
export function toScopes(stored: readonly string[]): Actor['scopes'] {
  return stored.flatMap((scope) => Scope.safeParse(scope).data ?? []);
}
