import { useState } from 'preact/hooks';
import { canAskToNotify, pendingApprovals } from '../../live/pending-approvals.ts';
import { nameOfWorkspace } from '../../live/record-names.ts';
import { Marked } from '../../parts/marked-text.tsx';
import { toSummary } from '../approvals/describe-approval.ts';

/** A strip at the top of the page with the approvals that wait for a person. */
export function WaitingStrip() {
  const waiting = pendingApprovals.value;
  const [canAsk, setCanAsk] = useState(canAskToNotify());
  const [first] = waiting;
  if (!first) return null;
  const { approvalId, tool, workspace } = first;
  return (
    <div class="waiting">
      <strong>{waiting.length === 1 ? 'A call waits for you' : `${waiting.length} calls wait for you`}</strong>
      <span class="waiting-what">
        {tool} in {nameOfWorkspace(workspace)} ·{' '}
        <code>
          <Marked text={toSummary(first)} />
        </code>
      </span>
      {canAsk && (
        <button
          type="button"
          class="button"
          onClick={() => void Notification.requestPermission().then(() => setCanAsk(canAskToNotify()))}
        >
          Notify me
        </button>
      )}
      <a class="button button-asks" href={`/approvals/${approvalId}`}>
        Look <kbd>g a</kbd>
      </a>
    </div>
  );
}
