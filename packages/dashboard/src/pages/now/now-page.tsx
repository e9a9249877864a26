import { computed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { setQuery, useQuery, withQuery } from '../../browser/router.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import type { FeedRow, Outcome } from '../../live/feed-row.ts';
import { feed, feedError, feedState, namesInFeed, olderRows, readOlder } from '../../live/live-feed.ts';
import { nameOfAgent, workspaceOf } from '../../live/record-names.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failure, Skeleton } from '../../parts/loading-states.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { mayDo } from '../../server/session.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { CallRow } from '../calls/call-row.tsx';
import { FirstSteps } from './first-steps.tsx';
import { StatusLine } from './status-line.tsx';
import { WaitingStrip } from './waiting-approvals-strip.tsx';

const outcomes: readonly (readonly [outcome: Outcome, words: string])[] = [
  ['running', 'Running'],
  ['ran', 'Ran'],
  ['failed', 'Failed'],
  ['asks', 'Asked'],
  ['denied', 'Denied'],
  ['violation', 'Refused by the fence'],
  ['change', 'By people'],
];

export function NowPage() {
  const rows = useShownRows();
  const start = useQuery('start');
  const isStarting = start === '1';
  const isNew = mayDo('read') && feedState.value === 'ready' && feed.value.length === 0 && !feedError.value;
  useEffect(() => {
    // The first steps stay visible after the first call.
    if (isNew && start === undefined) setQuery({ start: '1' }, { replace: true });
  }, [isNew, start]);
  const selected = useQuery('call');
  const call = selected === undefined ? undefined : feed.value.find(({ key }) => key === selected);
  const list = useRef<HTMLDivElement>(null);
  useRowKeys(rows.shown, selected, list);
  if (!mayDo('read')) return <ApprovalsAlone />;
  return (
    <div class={call ? 'page page-now has-panel' : 'page page-now'}>
      <h1 class="visually-hidden">Now</h1>
      <WaitingStrip />
      {isStarting && <FirstSteps />}
      <Filters rows={rows} />
      {feedError.value && <Failure error={feedError.value} />}
      <div class="split">
        <div class="split-main">
          {feedState.value === 'loading' ? (
            <Skeleton rows={12} />
          ) : rows.shown.length > 0 ? (
            <VirtualList
              rows={rows.shown}
              label="Calls, newest first"
              keyOf={({ key }) => key}
              render={(row) => <CallRow row={row} isSelected={row.key === selected} />}
              scroller={list}
              onScrollTop={(top) => rows.setReading(top > 20)}
              onEnd={() => void readOlder()}
            />
          ) : (
            <NothingFound isFiltered={feed.value.length > 0} />
          )}
          {rows.held > 0 && (
            <button type="button" class="button new-rows" onClick={() => rows.follow(list.current)}>
              {rows.held} new <Icon name="up" />
            </button>
          )}
        </div>
        {call && <CallPanel call={call} />}
      </div>
      <StatusLine />
    </div>
  );
}

/** For a key that decides and sees nothing else. */
function ApprovalsAlone() {
  return (
    <div class="page page-now">
      <h1 class="visually-hidden">Now</h1>
      <WaitingStrip />
      <Empty>
        <p>This key decides approvals, and sees nothing else.</p>
        <p class="muted">Calls that wait for you appear here and below Approvals.</p>
      </Empty>
    </div>
  );
}

type ShownRows = ReturnType<typeof useShownRows>;

/** The rows that the filters let through. While a person reads further down, or pauses, new rows wait. */
function useShownRows() {
  const [agent, workspace] = [useQuery('agent'), useQuery('workspace')];
  const [outcome, text] = [useQuery('outcome'), useQuery('q')?.toLowerCase()];
  const [isPaused, setPaused] = useState(false);
  const [isReading, setReading] = useState(false);
  const [frozen, setFrozen] = useState<readonly FeedRow[] | undefined>(undefined);
  const isFiltered = agent || workspace || outcome || text;
  const matching = useMemo(() => {
    const matches = (row: FeedRow) =>
      (!agent || row.agentId === agent) &&
      (!workspace || workspaceOf(row) === workspace) &&
      (!outcome || row.outcome === outcome) &&
      (!text ||
        `${row.tool} ${row.title} ${nameOfAgent(row.agentId)} ${workspaceOf(row)}`.toLowerCase().includes(text));
    return isFiltered ? feed.value.filter(matches) : feed.value;
  }, [feed.value, agent, workspace, outcome, text]);
  const isHeld = isPaused || isReading;
  useEffect(() => setFrozen(isHeld ? matching : undefined), [isHeld, agent, workspace, outcome, text]);
  // Older rows are added at the end, and a row that changes changes where it is.
  const first = frozen?.[0]?.key;
  const start = first === undefined ? 0 : matching.findIndex(({ key }) => key === first);
  const shown = start > 0 ? matching.slice(start) : matching;
  return {
    shown,
    held: Math.max(0, start),
    isPaused,
    setPaused,
    setReading,
    follow(list: HTMLDivElement | null) {
      setPaused(false);
      setReading(false);
      setFrozen(undefined);
      list?.scrollTo({ top: 0 });
    },
  };
}

/** What the filters offer. */
const names = computed(() => {
  if (feed.value.length === 0) return { agents: [], workspaces: [] };
  const { agents, workspaces } = namesInFeed();
  return {
    agents: [...agents].filter((name) => name !== '').sort(),
    workspaces: [...new Set(Array.from(workspaces, workspaceOf))].filter((name) => name !== '').sort(),
  };
});

function Filters({ rows }: { readonly rows: ShownRows }) {
  const pick = (name: string) => (event: { currentTarget: HTMLSelectElement }) =>
    setQuery({ [name]: event.currentTarget.value }, { replace: true });
  return (
    <div class="toolbar">
      <h2>Calls</h2>
      <select aria-label="Agent" value={useQuery('agent') ?? ''} onChange={pick('agent')}>
        <option value="">All agents</option>
        {names.value.agents.map((name) => (
          <option key={name} value={name}>
            {nameOfAgent(name)}
          </option>
        ))}
      </select>
      <select aria-label="Workspace" value={useQuery('workspace') ?? ''} onChange={pick('workspace')}>
        <option value="">All workspaces</option>
        {names.value.workspaces.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <select aria-label="Outcome" value={useQuery('outcome') ?? ''} onChange={pick('outcome')}>
        <option value="">Every outcome</option>
        {outcomes.map(([outcome, words]) => (
          <option key={outcome} value={outcome}>
            {words}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label="Find a call"
        placeholder="Find…  /"
        value={useQuery('q') ?? ''}
        onInput={(event) => setQuery({ q: event.currentTarget.value }, { replace: true })}
      />
      <button
        type="button"
        class="button"
        aria-pressed={rows.isPaused}
        aria-label={rows.isPaused ? 'Follow' : 'Pause'}
        onClick={() => (rows.isPaused ? rows.follow(null) : rows.setPaused(true))}
      >
        <Icon name={rows.isPaused ? 'play' : 'pause'} />
        <span class="pause-words">{rows.isPaused ? 'Follow' : 'Pause'}</span>
      </button>
    </div>
  );
}

function NothingFound({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <Empty>
        <p>No agent has called a tool yet. Calls appear here while they run.</p>
      </Empty>
    );
  return (
    <Empty>
      <p>None of the calls that are loaded match.</p>
      <div class="actions">
        <a
          class="button"
          href={withQuery({ agent: undefined, workspace: undefined, outcome: undefined, q: undefined })}
        >
          Show all
        </a>
        {olderRows.value !== undefined && (
          <button type="button" class="button" onClick={() => void readOlder()}>
            Search older calls
          </button>
        )}
      </div>
    </Empty>
  );
}

/** `j`, `k`, Enter and Escape. The selected row is in the address. */
function useRowKeys(rows: readonly FeedRow[], selected: string | undefined, list: { current: HTMLDivElement | null }) {
  const index = selected === undefined ? -1 : rows.findIndex(({ key }) => key === selected);
  const select = (at: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (!row) return;
    setQuery({ call: row.key }, { replace: true });
    const height = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 28;
    const element = list.current;
    const top = rows.indexOf(row) * height;
    if (!element) return;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + height > element.scrollTop + element.clientHeight)
      element.scrollTop = top + height - element.clientHeight;
  };
  useShortcuts({
    j: () => select(index + 1),
    k: () => select(index < 0 ? 0 : index - 1),
    Enter: () => select(Math.max(0, index)),
    Escape: () => setQuery({ call: undefined }, { replace: true }),
  });
}
