import type { AuditRecord } from '@croft/protocol';
import { useMemo } from 'preact/hooks';
import { useQuery } from '../../browser/router.ts';
import { createFeed } from '../../live/feed.ts';
import { feed } from '../../live/live-feed.ts';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { toSearch } from '../../server/request.ts';
import { useResource } from '../../server/use-resource.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { CallRow } from '../calls/call-row.tsx';

/** The calls of one agent: from the feed, and older ones from the audit trail. */
export function AgentCalls({ id }: { readonly id: string }) {
  const query = toSearch({ order: 'newest', agent: id, limit: 200 });
  const audit = useResource<{ audit: readonly AuditRecord[] }>(`/v1/audit${query}`);
  const rows = useMemo(() => {
    const old = createFeed().addOlder(audit.value.data?.audit ?? []);
    const live = feed.value.filter(({ agentId }) => agentId === id);
    const known = new Set(live.map(({ key }) => key));
    return [...live, ...old.filter(({ key, agentId }) => agentId === id && !known.has(key))];
  }, [audit.value.data, feed.value, id]);
  const selected = useQuery('call');
  const call = rows.find(({ key }) => key === selected);
  return (
    <div class={call ? 'split has-panel' : 'split'}>
      <div class="split-main">
        <Loaded from={audit} rows={10}>
          {() =>
            rows.length === 0 ? (
              <Empty>
                <p>This agent has not called a tool yet.</p>
              </Empty>
            ) : (
              <VirtualList
                rows={rows}
                label="Calls of the agent, newest first"
                keyOf={({ key }) => key}
                render={(row) => <CallRow row={row} isSelected={row.key === selected} />}
              />
            )
          }
        </Loaded>
      </div>
      {call && <CallPanel call={call} />}
    </div>
  );
}
