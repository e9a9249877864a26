import { withQuery } from '../../browser/router.ts';
import type { FeedRow } from '../../live/feed-row.ts';
import { nameOfAgent, workspaceOf } from '../../live/record-names.ts';
import { Marked } from '../../parts/marked-text.tsx';
import { OutcomeMark } from '../../parts/outcome-mark.tsx';
import { session as signedIn } from '../../server/session.ts';
import { toClock, toDuration, toExactTime, toShortId } from '../../text/format-times-and-sizes.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';

interface CallRowProps {
  readonly row: FeedRow;
  readonly isSelected: boolean;
}

/** One line: when, who, what, how it went. */
export function CallRow({ row, isSelected }: CallRowProps) {
  const { at, outcome, tool, title } = row;
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
        <Marked text={toOneLine(title)} />
      </code>
      <span class="call-where">{workspaceOf(row)}</span>
      <span class="call-end">{describeEnd(row)}</span>
      <span class="call-duration">{row.durationMs === undefined ? '' : toDuration(row.durationMs)}</span>
    </a>
  );
}

export function nameOfCaller({ agentId, session, outcome }: FeedRow): string {
  if (outcome !== 'change') return nameOfAgent(agentId);
  return session === signedIn.value?.label ? 'you' : toShortId(session.replace(/^key /, ''));
}

const layers: Readonly<Record<string, string>> = { file: 'files', network: 'network', 'system-call': 'system call' };

/** A limit by its name; everything else by what the fence kept it from. */
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
