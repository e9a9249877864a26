import type { AccountEvent, AuditRecord } from '@croft/protocol';

/** How a call ended, or another event that is no call. */
export type Outcome = 'running' | 'ran' | 'failed' | 'asks' | 'denied' | 'violation' | 'change';

/** One line of the feed: a call from its beginning to its end, or a change that a person made. */
export interface FeedRow {
  /** The id of the call, or the hash of the record. */
  readonly key: string;
  readonly at: string;
  readonly outcome: Outcome;
  readonly agentId: string;
  readonly session: string;
  /** The tool, or the action of a person. */
  readonly tool: string;
  readonly workspace: string;
  readonly workspaceId: string;
  /** The command, file or subject of the event, in one line. */
  readonly title: string;
  readonly durationMs?: number | undefined;
  readonly code?: string | undefined;
  readonly exitCode?: number | undefined;
  /** Id of the checkpoint that undoes the call. */
  readonly checkpoint?: string | undefined;
  /** The calls that an undo has taken back. */
  readonly undoes?: readonly string[] | undefined;
  readonly violations: readonly Violation[];
}

interface Violation {
  readonly layer: string;
  readonly rule: string;
  readonly target: string;
  /** How to allow it. */
  readonly next: string;
}

type Fields = Readonly<Record<string, unknown>>;
type CallStarted = Extract<AccountEvent, { type: 'call.started' }>;

/** Actions of people that belong into a feed of what happens. */
const changes = /^(?:file\.(?:write|rename|remove)|undo|snapshot\.(?:create|restore)|terminal\.opened)$/;

const shortNames: Readonly<Record<string, string>> = {
  'snapshot.create': 'snapshot',
  'snapshot.restore': 'restore',
  'terminal.opened': 'terminal',
};

/** Updates the row of the same key, or makes it. Returns nothing for a record that is not for the feed. */
export function applyRecord(record: AuditRecord, find: (key: string) => FeedRow | undefined): FeedRow | undefined {
  const details = readDetails(record.details);
  const key = textOf(details.call);
  const { action } = record;
  if (action === 'call.ended' && key !== '') return toEnded(record, details, find(key));
  if (action === 'call.began' && key !== '') return find(key) ?? toCallRow(record, details, 'running');
  if (action === 'violation' && key !== '')
    return withViolation(find(key) ?? toCallRow(record, details, 'running'), details);
  return changes.test(action) ? toChange(record, details) : undefined;
}

export function applyStarted(event: CallStarted, find: (key: string) => FeedRow | undefined): FeedRow {
  const { call: key, at, agentId, session, tool, workspace, title } = event;
  const known = find(key);
  if (known) return { ...known, title: known.title || title };
  return {
    ...{ key, at, outcome: 'running', agentId, session, tool, title, violations: [] },
    ...{ workspace: workspace ?? '', workspaceId: '' },
  };
}

function toCallRow({ at, actor, target }: AuditRecord, details: Fields, outcome: Outcome): FeedRow {
  const { agentId, session } = toCaller(actor);
  return {
    key: textOf(details.call),
    at,
    outcome,
    agentId,
    session,
    tool: target,
    workspace: textOf(details.workspace),
    workspaceId: textOf(details.workspaceId),
    title: textOf(details.title),
    violations: [],
  };
}

/** A call in a workspace of the operator names the process that it came by; its agent is always the same. */
function toCaller(actor: string): { readonly agentId: string; readonly session: string } {
  const [who = '', ...rest] = actor.split(' ');
  return who === 'pid'
    ? { agentId: 'flags', session: rest.slice(1).join(' ') }
    : { agentId: who, session: rest.join(' ') };
}

function toEnded(record: AuditRecord, details: Fields, before: FeedRow | undefined): FeedRow {
  const row = toCallRow(record, details, 'ran');
  const code = textOf(details.code) || undefined;
  const violations = before?.violations ?? [];
  const durationMs = typeof details.duration_ms === 'number' ? details.duration_ms : undefined;
  const exitCode = typeof details.exit_code === 'number' ? details.exit_code : undefined;
  return {
    ...row,
    // A call stands where it began.
    at: before?.at ?? new Date(Date.parse(record.at) - (durationMs ?? 0)).toISOString(),
    title: row.title || before?.title || '',
    workspaceId: row.workspaceId || before?.workspaceId || '',
    ...{ durationMs, code, exitCode, violations },
    checkpoint: textOf(details.checkpoint) || undefined,
    outcome: judge({ code, exitCode, isError: details.is_error === true, hasViolations: violations.length > 0 }),
  };
}

function judge(end: {
  code: string | undefined;
  exitCode: number | undefined;
  isError: boolean;
  hasViolations: boolean;
}) {
  const { code, exitCode, isError, hasViolations } = end;
  if (code === 'E_APPROVAL_REQUIRED') return 'asks';
  if (code === 'E_APPROVAL_DENIED') return 'denied';
  if (hasViolations) return 'violation';
  return isError || (exitCode !== undefined && exitCode !== 0) ? 'failed' : 'ran';
}

function withViolation(row: FeedRow, details: Fields): FeedRow {
  const violation = {
    layer: textOf(details.layer),
    rule: textOf(details.rule) || textOf(details.code),
    target: textOf(details.target) || textOf(details.path),
    next: textOf(details.next) || textOf(details.hint),
  };
  const isOver = row.outcome !== 'running';
  return { ...row, violations: [...row.violations, violation], ...(isOver && { outcome: 'violation' as const }) };
}

function toChange({ at, actor, action, target, hash }: AuditRecord, details: Fields): FeedRow {
  const title = ['path', 'name', 'checkpointId', 'from']
    .map((name) => textOf(details[name]))
    .find((text) => text !== '');
  // A terminal is of a sandbox; everything else here is of a workspace.
  const workspaceId = action === 'terminal.opened' ? textOf(details.workspaceId) : target;
  const tool = shortNames[action] ?? action;
  const undoes = Array.isArray(details.calls) ? details.calls.filter((call) => typeof call === 'string') : undefined;
  return {
    ...{ key: hash, at, outcome: 'change', agentId: '', session: actor, tool, violations: [] },
    ...{ workspace: '', workspaceId, title: title ?? '', undoes },
  };
}

/** How many rows began at this time or later. Rows are newest first. */
export function countSince(rows: readonly Pick<FeedRow, 'at'>[], time: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(rows[middle]?.at ?? '') >= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The server made it, of texts that others wrote. */
export function readDetails(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
