import { parseJson } from '../../../lib/text/parse-json.ts';
import { flagsAgentId } from '../access/operator-ids.ts';
import type { AuditFilter } from '../ports/audit-log.ts';
import type { AuditRow } from '../ports/call-tables.ts';

type Details = Readonly<Record<string, unknown>>;
type Test = (row: AuditRow, details: Details) => boolean;

/** Returns whether a row passes a filter. Both trails, of accounts and of flag workspaces, are filtered here. */
export function createAuditFilter(filter: AuditFilter): (row: AuditRow) => boolean {
  const tests = toTests(filter);
  return (row) => {
    if (tests.length === 0) return true;
    const parsed = parseJson(row.details);
    const details = typeof parsed === 'object' && parsed !== null ? (parsed as Details) : {};
    return tests.every((test) => test(row, details));
  };
}

function toTests({ kind, agent, session, workspace, tool, outcome, from, to, text }: AuditFilter): Test[] {
  const [start, end, words] = [Date.parse(from ?? ''), Date.parse(to ?? ''), text?.toLowerCase()];
  return [
    ...when(
      kind,
      (wanted): Test =>
        ({ action }) =>
          kindOf(action) === wanted,
    ),
    ...when(
      agent,
      (id): Test =>
        ({ actor }, details) =>
          agentOf(actor) === id || details.agentId === id,
    ),
    ...when(
      session,
      (id): Test =>
        ({ actor }, details) =>
          sessionOf(actor) === id || details.session === id,
    ),
    ...when(
      workspace,
      (name): Test =>
        ({ target }, { workspace: own, workspaceId }) =>
          [own, workspaceId, target].includes(name) || (typeof own === 'string' && own.endsWith(` (${name})`)),
    ),
    ...when(
      tool,
      (name): Test =>
        ({ action, target }, details) =>
          details.tool === name || (kindOf(action) === 'call' && target === name),
    ),
    ...when(
      outcome,
      (wanted): Test =>
        (row, details) =>
          outcomeOf(row, details) === wanted,
    ),
    ...when(
      from,
      (): Test =>
        ({ at }) =>
          Date.parse(at) >= start,
    ),
    ...when(
      to,
      (): Test =>
        ({ at }) =>
          Date.parse(at) <= end,
    ),
    ...when(
      words,
      (wanted): Test =>
        ({ actor, action, target, details }) =>
          `${actor}\n${action}\n${target}\n${details}`.toLowerCase().includes(wanted),
    ),
  ];
}

function when<Value>(value: Value | undefined, toTest: (value: Value) => Test): Test[] {
  return value === undefined ? [] : [toTest(value)];
}

function kindOf(action: string): NonNullable<AuditFilter['kind']> {
  if (action.startsWith('call.')) return 'call';
  if (action.startsWith('approval.')) return 'approval';
  return action === 'violation' ? 'violation' : 'change';
}

function outcomeOf({ action }: AuditRow, details: Details): AuditFilter['outcome'] {
  if (action === 'violation') return 'violation';
  if (action === 'approval.requested') return 'asked';
  if (action === 'approval.denied') return 'denied';
  if (action === 'call.ended') return details.is_error === true ? 'error' : 'ok';
  return undefined;
}

/** The actor of a call is `AGENT SESSION`, or `pid 4711 SESSION` in a workspace that flags name. */
const ofFlags = /^pid \d+ /;

export function agentOf(actor: string): string {
  return ofFlags.test(actor) ? flagsAgentId : actor.slice(0, Math.max(0, actor.indexOf(' ')));
}

function sessionOf(actor: string): string {
  return actor.replace(ofFlags.test(actor) ? ofFlags : /^\S* /, '');
}
