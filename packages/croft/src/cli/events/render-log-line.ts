import type { AccountEvent, AuditRecord } from '@croft/protocol';
import { parseJson } from '../../lib/text/parse-json.ts';
import { toCell } from '../output/print-rows.ts';

/** One line of `croft logs`. */
export interface LogLine {
  readonly at: string;
  /** The id of an agent, or who else did it. */
  readonly who: string;
  readonly session: string;
  readonly what: string;
  readonly how: string;
}

const quiet: ReadonlySet<string> = new Set(['call.began']);

/** The line of an event; nothing for one that another line says too. */
export function toLogLine(event: AccountEvent): LogLine | undefined {
  if (event.type === 'reset')
    return { at: event.at, who: '', session: '', what: 'some events are missing here', how: '' };
  if (event.type === 'audit') return toAuditLine(event.record);
  const { at, agentId, session, tool, workspace, title } = event;
  return { at, who: agentId, session, what: join(tool, workspace, title), how: 'started' };
}

/** The line of a row of the audit trail; nothing for one that another line says too. */
export function toAuditLine(record: AuditRecord): LogLine | undefined {
  if (quiet.has(record.action)) return undefined;
  const { who, session, about, how } = describeAuditRow(record);
  const isCall = record.action === 'call.ended' || record.action === 'violation';
  return { at: record.at, who, session, what: isCall ? about : join(record.action, about), how };
}

/** Says in a few words what a row of the audit trail records. */
export function describeAuditRow({ action, actor, target, details }: AuditRecord) {
  const [who = '', ...rest] = actor.split(' ');
  const about = (parseJson(details) ?? {}) as Details;
  const by = { who, session: rest.join(' ') };
  if (action === 'violation')
    return { ...by, about: join(about.tool ?? target, about.rule, about.target), how: 'refused' };
  if (action !== 'call.ended' && action !== 'call.began') return { ...by, about: target, how: '' };
  const how = action === 'call.ended' ? toOutcome(about) : '';
  return { ...by, about: join(target, about.workspace, about.title), how };
}

interface Details {
  readonly workspace?: string | null;
  readonly title?: unknown;
  readonly tool?: string;
  readonly rule?: string;
  readonly target?: string;
  readonly duration_ms?: number;
  /** The code of the error that the call ended with. */
  readonly code?: string;
  readonly exit_code?: number;
}

function toOutcome({ code, exit_code: exitCode, duration_ms: ms }: Details): string {
  const time = ms === undefined ? '' : ` in ${Math.round(ms)} ms`;
  return `${code ?? (exitCode ? `exit ${exitCode}` : 'done')}${time}`;
}

function join(...parts: readonly unknown[]): string {
  return parts.filter((part) => typeof part === 'string' && part !== '').join(' ');
}

/** Renders an event: as JSON for programs; for people the time of day and the fields that matter. */
export function renderLogLine(
  { at, who, session, what, how }: LogLine,
  { nameOf, isForPerson }: { nameOf(agentId: string): string; readonly isForPerson: boolean },
): string {
  if (!isForPerson) return `${[at, nameOf(who), session, what, how].map(toCell).join('\t')}\n`;
  const time = new Date(at).toTimeString().slice(0, 8);
  return `${[time, nameOf(who).padEnd(whoWidth), what, how && `· ${how}`].map(toCell).join(' ').trimEnd()}\n`;
}

const whoWidth = 12;
