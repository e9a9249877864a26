import type { AuditRecord, AuditVerdict } from '@croft/protocol';
import { useEffect, useState } from 'preact/hooks';
import type { z } from 'zod';
import { setQuery, useQuery } from '../../browser/router.ts';
import { readDetails } from '../../live/feed-row.ts';
import { nameOfAgent } from '../../live/record-names.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failure, Skeleton } from '../../parts/loading-states.tsx';
import { Ago, Id, Marked } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { request } from '../../server/request.ts';
import { session as signedIn } from '../../server/session.ts';
import { toClock, toCount, toExactTime, toSessionName, toShortId } from '../../text/format-times-and-sizes.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';
import { useAuditRows } from './use-audit-rows.ts';

const kinds = { call: 'Calls', approval: 'Approvals', violation: 'Violations', change: 'Changes' } as const;
const outcomes = ['ok', 'error', 'asked', 'denied', 'violation'] as const;

/** The audit trail: who did what, with filters. */
export function AuditPage() {
  const filter = {
    kind: useQuery('kind'),
    outcome: useQuery('outcome'),
    agent: useQuery('agent'),
    text: useQuery('q'),
    from: toTime(useQuery('from')),
    to: toTime(useQuery('to')),
  };
  const { rows, state, error, readMore, reload } = useAuditRows(filter);
  const selected = useQuery('row');
  const record = rows.find(({ hash }) => hash === selected);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Audit</h1>
        <ChainCheck />
      </header>
      <Filters />
      {error && <Failure error={error} onRetry={reload} />}
      <div class={record ? 'split has-panel' : 'split'}>
        <div class="split-main">
          {state === 'loading' && rows.length === 0 ? (
            <Skeleton rows={12} />
          ) : rows.length === 0 ? (
            !error && (
              <Empty>
                <p>No row of the trail matches.</p>
              </Empty>
            )
          ) : (
            <VirtualList
              rows={rows}
              label="Rows of the audit trail, newest first"
              keyOf={({ hash }) => hash}
              render={(row) => <AuditRow record={row} isSelected={row.hash === selected} />}
              onEnd={readMore}
            />
          )}
        </div>
        {record && <RecordPanel record={record} />}
      </div>
    </div>
  );
}

/** Fields of dates are days of the person. */
function toTime(day: string | undefined): string | undefined {
  return day && !Number.isNaN(Date.parse(day)) ? new Date(day).toISOString() : undefined;
}

function Filters() {
  const set = (name: string) => (event: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
    setQuery({ [name]: event.currentTarget.value }, { replace: true });
  return (
    <div class="toolbar">
      <select aria-label="Kind" value={useQuery('kind') ?? ''} onChange={set('kind')}>
        <option value="">Everything</option>
        {Object.entries(kinds).map(([kind, words]) => (
          <option key={kind} value={kind}>
            {words}
          </option>
        ))}
      </select>
      <select aria-label="Outcome" value={useQuery('outcome') ?? ''} onChange={set('outcome')}>
        <option value="">Every outcome</option>
        {outcomes.map((outcome) => (
          <option key={outcome}>{outcome}</option>
        ))}
      </select>
      <input aria-label="Agent" placeholder="Agent" value={useQuery('agent') ?? ''} onChange={set('agent')} />
      <input
        type="search"
        aria-label="Find a row"
        placeholder="Find…  /"
        value={useQuery('q') ?? ''}
        onChange={set('q')}
      />
      <label class="inline">
        from <input type="datetime-local" value={useQuery('from') ?? ''} onChange={set('from')} />
      </label>
      <label class="inline">
        to <input type="datetime-local" value={useQuery('to') ?? ''} onChange={set('to')} />
      </label>
    </div>
  );
}

function AuditRow({ record, isSelected }: { readonly record: AuditRecord; readonly isSelected: boolean }) {
  const { sequence, at, actor, action, target, details, hash } = record;
  return (
    <button
      type="button"
      class="audit-row"
      aria-current={isSelected ? 'true' : undefined}
      onClick={() => setQuery({ row: hash }, { replace: true })}
    >
      <span class="audit-number">{sequence}</span>
      <time dateTime={at} title={toExactTime(at)}>
        {toClock(at)}
      </time>
      <span class="audit-action">{action}</span>
      <span class="audit-actor">
        <Marked text={nameOfActor(actor)} />
      </span>
      <span class="audit-target">
        <Marked text={toShortId(target)} />
      </span>
      <code class="audit-details">
        <Marked text={toOneLine(summarize(details), 200)} />
      </code>
    </button>
  );
}

/** Returns the name of the actor of a row; its id if it has no name. */
function nameOfActor(actor: string): string {
  const [who = '', ...rest] = actor.split(' ');
  if (who === 'key')
    return rest.join(' ') === signedIn.value?.label.replace(/^key /, '') ? 'you' : toShortId(rest.join(' '));
  // A call in a workspace of the operator names the process that it came by.
  if (who === 'pid') return nameOfAgent('flags');
  const session = toSessionName(rest.join(' '));
  return session === 'default' ? nameOfAgent(who) : `${nameOfAgent(who)} · ${session}`;
}

const shownFields = ['title', 'path', 'from', 'name', 'rule', 'code', 'reason'];

/** Summarises the details of a row in a few words. The panel shows all of them. */
function summarize(details: string): string {
  const fields = readDetails(details);
  return shownFields.flatMap((name) => (typeof fields[name] === 'string' ? [fields[name]] : [])).join(' · ');
}

function RecordPanel({ record }: { readonly record: AuditRecord }) {
  const { sequence, at, actor, action, target, details, previous, hash } = record;
  const facts = { Actor: actor, Action: action, Target: target };
  return (
    <aside class="panel" aria-label={`Row ${sequence}`}>
      <header class="panel-head">
        <h2>Row {sequence}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Close"
          onClick={() => setQuery({ row: undefined }, { replace: true })}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <dl class="facts">
          <div>
            <dt>At</dt>
            <dd>
              {toExactTime(at)} (<Ago at={at} />)
            </dd>
          </div>
          {Object.entries(facts).map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Marked text={text} />
              </dd>
            </div>
          ))}
          <div>
            <dt>Hash</dt>
            <dd>
              <Id id={hash} />
            </dd>
          </div>
          <div>
            <dt>Row before</dt>
            <dd>
              <Id id={previous} />
            </dd>
          </div>
        </dl>
        <pre class="output">
          <Marked text={prettify(details)} />
        </pre>
      </div>
    </aside>
  );
}

function prettify(details: string): string {
  try {
    return JSON.stringify(JSON.parse(details), null, 2);
  } catch {
    return details;
  }
}

type Verdict = z.output<typeof AuditVerdict>;

function ChainCheck() {
  const [verdict, setVerdict] = useState<Verdict | undefined>(undefined);
  const check = useAction(async () => setVerdict(await request<Verdict>('GET', '/v1/audit/check')));
  useEffect(() => () => check.clear(), []);
  return (
    <div class="page-actions">
      <button type="button" class="button" disabled={check.isRunning} onClick={() => check.run()}>
        <Icon name="check" /> {check.isRunning ? 'Checking…' : 'Check the chain'}
      </button>
      {check.error && <Failure error={check.error} />}
      {verdict && (
        <div class={verdict.whole ? 'chain chain-whole' : 'chain chain-broken'} role="status">
          <p>
            <strong>
              {verdict.whole
                ? `The trail is whole: ${toCount(verdict.rows, 'row')}.`
                : `The trail is broken${verdict.broken ? ` at row ${verdict.broken.row}` : ''}.`}
            </strong>{' '}
            {verdict.broken?.reason}
          </p>
          {verdict.problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
          <details>
            <summary>What this check shows, and what it cannot</summary>
            <ul>
              {[...verdict.shows, ...verdict.cannotShow].map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </details>
        </div>
      )}
    </div>
  );
}
