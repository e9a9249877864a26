import { now } from '../../browser/clock.ts';
import { withQuery } from '../../browser/router.ts';
import type { FeedRow } from '../../live/feed-row.ts';
import { findCall } from '../../live/live-feed.ts';
import { nameOfAgent, workspaceOf } from '../../live/record-names.ts';
import { Marked } from '../../parts/marked-text.tsx';
import { OutcomeMark } from '../../parts/outcome-mark.tsx';
import { session as signedIn } from '../../server/session.ts';
import { toClock, toDuration, toExactTime, toShortId, toSpan } from '../../text/format-times-and-sizes.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';

interface CallRowProps {
  readonly row: FeedRow;
  readonly isSelected: boolean;
}

/** One call in one line: time, caller, tool, outcome. */
export function CallRow({ row, isSelected }: CallRowProps) {
  const { at, outcome, tool } = row;
  return (
    <a
      class={`call call-${outcome}`}
      href={withQuery({ call: row.key })}
      aria-current={isSelected ? 'true' : undefined}
      data-call={row.key}
    >
      <time class="call-time" dateTime={at} title={toExactTime(at)}>
        {toClock(at)}
      </time>
      <OutcomeMark outcome={outcome} />
      <span class="call-who" title={row.session}>
        {nameOfCaller(row)}
      </span>
      <span class="call-tool">{tool}</span>
      <code class="call-title">
        <Marked text={toOneLine(titleOf(row))} />
      </code>
      <span class="call-where">{workspaceOf(row)}</span>
      <span class="call-end">{describeEnd(row)}</span>
      <span class="call-duration">{describeDuration(row)}</span>
    </a>
  );
}

/** What the call was about. An undo is about the calls that it takes back. */
export function titleOf({ title, undoes = [] }: FeedRow): string {
  const calls = undoes.flatMap((call) => findCall(call) ?? []);
  return calls.length === 0 ? title : calls.map(({ tool, title: about }) => `${tool} ${about}`).join(', ');
}

function describeDuration({ outcome, at, durationMs }: FeedRow): string {
  if (durationMs !== undefined) return toDuration(durationMs);
  const ms = now.value - Date.parse(at);
  return outcome === 'running' && ms >= 5000 ? toSpan(ms) : '';
}

export function nameOfCaller({ agentId, session, outcome }: FeedRow): string {
  if (outcome !== 'change') return nameOfAgent(agentId);
  return session === signedIn.value?.label ? 'you' : toShortId(session.replace(/^key /, ''));
}

const layers: Readonly<Record<string, string>> = { file: 'files', network: 'network', 'system-call': 'system call' };

/** Describes a violation: a limit by its name, everything else by the refused target. */
function describeViolation({ layer, rule }: FeedRow['violations'][number]): string {
  return layers[layer] ?? (rule || 'refused');
}

/** Says how the call ended, beside the mark of its outcome. */
function describeEnd({ outcome, code, exitCode, violations, checkpoint }: FeedRow): string {
  if (violations[0]) return describeViolation(violations[0]);
  if (exitCode !== undefined && exitCode !== 0) return `exit ${exitCode}`;
  if (code !== undefined) return code.replace(/^E_/, '').toLowerCase().replaceAll('_', ' ');
  if (outcome === 'running') return 'running';
  return checkpoint === undefined ? '' : 'changed files';
}
