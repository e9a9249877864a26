import type { Approval, AuditRecord } from '@croft/protocol';
import { applyRecord } from '../../live/feed-row.ts';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { OutcomeMark } from '../../parts/outcome-mark.tsx';
import { toSearch } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';

const most = 3;

/** The calls of the same agent right before it asked. */
export function JustBefore({ approval }: { readonly approval: Approval }) {
  const { agentId, createdAt } = approval;
  const query = toSearch({ order: 'newest', kind: 'call', agent: agentId, to: createdAt, limit: 20 });
  const audit = useResource<{ audit: readonly AuditRecord[] }>(mayDo('read') ? `/v1/audit${query}` : undefined);
  const rows = (audit.value.data?.audit ?? [])
    .filter(({ action }) => action === 'call.ended')
    .flatMap((record) => applyRecord(record, () => undefined) ?? [])
    .slice(0, most);
  return (
    <div class="just-before">
      <h3>Just before</h3>
      {rows.length === 0 ? (
        <p class="muted">This agent made no call before.</p>
      ) : (
        <ul>
          {rows.map((row) => (
            <li key={row.key}>
              <OutcomeMark outcome={row.outcome} />
              <a href={`/?call=${encodeURIComponent(row.key)}`}>
                {row.tool}{' '}
                <code>
                  <Marked text={toOneLine(row.title, 100)} />
                </code>
              </a>
              <span class="muted">
                <Ago at={row.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
