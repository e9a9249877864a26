import type { Approval } from '@croft/protocol';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../../browser/announce.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import { connection } from '../../live/event-stream.ts';
import { Failure } from '../../parts/loading-states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request } from '../../server/request.ts';
import { invalidate } from '../../server/use-resource.ts';

/** For this time, keys and clicks are ignored: they were meant for the card before. */
const armsAfterMs = 300;

interface DecisionBarProps {
  readonly approval: Approval;
  /** Why it cannot be approved now. Denying is always safe. */
  readonly blockedBy: string | undefined;
  readonly shownAt: RefObject<number>;
}

interface Decision {
  readonly decision: 'approve' | 'deny';
  readonly scope?: 'session';
  readonly reason?: string;
}

export function DecisionBar({ approval, blockedBy, shownAt }: DecisionBarProps) {
  const [isDenying, setDenying] = useState(false);
  const { run, isRunning, error } = useAction(async (body: Decision) => {
    const path = `/v1/approvals/${encodeURIComponent(approval.approvalId)}`;
    try {
      await request('POST', path, { body });
      announce(body.decision === 'approve' ? 'Approved' : 'Denied');
    } finally {
      // Also read again if another person decided first: then the card names that person.
      invalidate('/v1/approvals');
    }
  });
  const decide = (body: Decision) => {
    if (performance.now() - shownAt.current < armsAfterMs) return;
    if (body.decision === 'approve' && blockedBy !== undefined) return;
    run(body);
  };
  const approve = () => decide({ decision: 'approve' });
  const approveSession = () => decide({ decision: 'approve', scope: 'session' });
  const deny = () => {
    if (!isAway && performance.now() - shownAt.current >= armsAfterMs) setDenying(true);
  };
  useShortcuts({ a: approve, A: approve, s: approveSession, S: approveSession, d: deny, D: deny });
  const isAway = connection.value === 'away';
  const isBlocked = isRunning || blockedBy !== undefined;
  return (
    <footer class="decision">
      {isDenying ? (
        <DenyForm
          isRunning={isRunning}
          onDeny={(reason) => decide({ decision: 'deny', ...(reason && { reason }) })}
          onBack={() => setDenying(false)}
        />
      ) : (
        <div class="decision-buttons">
          <button type="button" class="button button-approve" disabled={isBlocked} onClick={approve}>
            Approve <kbd>A</kbd>
          </button>
          <button type="button" class="button" disabled={isBlocked} onClick={approveSession}>
            Same call, this session <kbd>S</kbd>
          </button>
          <button type="button" class="button button-danger" disabled={isRunning || isAway} onClick={deny}>
            Deny… <kbd>D</kbd>
          </button>
        </div>
      )}
      {/* Below the buttons, so that they stay where they are. */}
      {blockedBy !== undefined && <p class="blocked">{blockedBy}</p>}
      {error && error.code !== 'E_APPROVAL_SETTLED' && <Failure error={error} />}
    </footer>
  );
}

function DenyForm(props: { isRunning: boolean; onDeny(reason: string): void; onBack(): void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      class="deny"
      onSubmit={(event) => {
        event.preventDefault();
        props.onDeny(field.current?.value.trim() ?? '');
      }}
      onKeyDown={(event) => event.key === 'Escape' && props.onBack()}
    >
      <label for="reason">Reason, which the agent is told</label>
      <div class="step-line">
        <input id="reason" ref={field} maxLength={2000} placeholder="Not on a Friday; use --dry-run first" />
        <button type="submit" class="button button-danger" disabled={props.isRunning}>
          Deny <kbd>⏎</kbd>
        </button>
        <button type="button" class="button" onClick={props.onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
