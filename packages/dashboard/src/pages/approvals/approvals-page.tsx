import type { Approval } from '@croft/protocol';
import { useEffect, useRef } from 'preact/hooks';
import { navigate } from '../../browser/router.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import { pendingApprovals } from '../../live/pending-approvals.ts';
import { nameOfAgent, nameOfWorkspace } from '../../live/record-names.ts';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { useResource } from '../../server/use-resource.ts';
import { ApprovalCard } from './approval-card.tsx';
import { toSummary } from './describe-approval.ts';

/**
 * One approval to decide, and the others below it. A decided card stays until the person goes on, so that no other card
 * moves under the pointer.
 */
export function ApprovalsPage({ id }: { readonly id?: string }) {
  const waiting = pendingApprovals.value;
  const [first] = waiting;
  useEffect(() => {
    if (id === undefined && first) navigate(`/approvals/${first.approvalId}`, { replace: true });
  }, [id, first]);
  const others = waiting.filter(({ approvalId }) => approvalId !== id);
  const index = waiting.findIndex(({ approvalId }) => approvalId === id);
  const next = waiting[index + 1] ?? others[0];
  const before = waiting[index - 1];
  useShortcuts({
    ...(next && { j: () => navigate(`/approvals/${next.approvalId}`) }),
    ...(before && { k: () => navigate(`/approvals/${before.approvalId}`) }),
  });
  return (
    <div class="page page-approvals">
      <h1 class="visually-hidden">Approvals</h1>
      {id === undefined ? <NothingWaits /> : <OneApproval key={id} id={id} next={next} />}
      <Others approvals={others} />
    </div>
  );
}

function NothingWaits() {
  return (
    <Empty>
      <p>Nothing waits for you.</p>
      <p class="muted">Calls that need a person appear here, from every agent. The tab’s title counts them.</p>
      <p>
        <a href="/audit?kind=approval">What was decided</a>
      </p>
    </Empty>
  );
}

function OneApproval({ id, next }: { readonly id: string; readonly next: Approval | undefined }) {
  const approval = useResource<{ approval: Approval }>(`/v1/approvals/${encodeURIComponent(id)}`);
  const shownAt = useRef(0);
  return (
    <Loaded from={approval} rows={8}>
      {({ approval: found }) => <ApprovalCard approval={found} next={next} shownAt={shownAt} />}
    </Loaded>
  );
}

function Others({ approvals }: { readonly approvals: readonly Approval[] }) {
  if (approvals.length === 0) return null;
  return (
    <section class="others" aria-label="Others that wait">
      <h2>Also waiting</h2>
      <ul>
        {approvals.map((approval) => (
          <li key={approval.approvalId}>
            <a class="other" href={`/approvals/${approval.approvalId}`}>
              <span class="call-tool">{approval.tool}</span>
              <code>
                <Marked text={toSummary(approval)} />
              </code>
              <span class="muted">
                {nameOfAgent(approval.agentId)} · {nameOfWorkspace(approval.workspace)} ·{' '}
                <Ago at={approval.createdAt} />
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
