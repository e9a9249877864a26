import type { AccountEvent } from '@croft/protocol';
import { parseJson } from '../../lib/text/parse-json.ts';
import { reachesAgent } from '../accounts/access/key-reach.ts';
import { agentOf } from '../accounts/audit/audit-filter.ts';
import type { AuditRow } from '../accounts/ports/call-tables.ts';
import type { Actor } from '../accounts/ports/registry.ts';

type Hearer = Pick<Actor, 'scopes' | 'agents'>;

/**
 * Whether a key may see an event. A key that may not read sees approvals only, and a key that is bound to agents sees
 * what these agents do and ask.
 */
export function maySeeEvent(actor: Hearer, event: AccountEvent): boolean {
  if (event.type === 'reset') return true;
  const maySee = actor.scopes.some((scope) => scope === '*' || scope === 'read');
  if (event.type === 'audit') {
    const isApproval = event.record.action.startsWith('approval.');
    return (maySee || isApproval) && isOfAgents(actor, event.record);
  }
  if (!maySee) return false;
  return reachesAgent(actor, event.agentId);
}

const ofCalls: ReadonlySet<string> = new Set(['call.began', 'call.ended', 'violation']);

function isOfAgents(actor: Hearer, { action, actor: who, details }: AuditRow): boolean {
  if (actor.agents === undefined) return true;
  if (ofCalls.has(action)) return reachesAgent(actor, agentOf(who));
  if (!action.startsWith('approval.')) return false;
  const { agentId } = (parseJson(details) ?? {}) as { readonly agentId?: unknown };
  return typeof agentId === 'string' && reachesAgent(actor, agentId);
}
