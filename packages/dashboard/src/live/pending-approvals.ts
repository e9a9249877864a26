import type { Approval } from '@croft/protocol';
import { computed, effect, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { announce } from '../browser/announce.ts';
import { now } from '../browser/clock.ts';
import { navigate } from '../browser/router.ts';
import { mayDo } from '../server/session.ts';
import { useResource } from '../server/use-resource.ts';
import { toOneLine } from '../text/mark-hidden-characters.ts';
import { nameOfWorkspace } from './record-names.ts';

const pendingPath = '/v1/approvals?state=pending&limit=200';

const listed = signal<readonly Approval[]>([]);

/**
 * Approvals that wait for a person, oldest first, so that a new one appears below. An approval expires without an
 * event.
 */
export const pendingApprovals = computed(() =>
  listed.value.filter(({ expiresAt, state }) => state === 'pending' && Date.parse(expiresAt) > now.value),
);

/** Follows the pending approvals, and announces new ones to the person. */
export function useApprovalNews(): void {
  const mayRead = mayDo('approve') || mayDo('read');
  const resource = useResource<{ approvals: readonly Approval[] }>(mayRead ? pendingPath : undefined);
  useEffect(() => {
    let known: ReadonlySet<string> | undefined;
    const stop = effect(() => {
      const { data } = resource.value;
      if (data) known = takeList(data.approvals, known);
    });
    return () => {
      stop();
      listed.value = [];
    };
  }, [resource]);
}

/** Approvals in the first list are not announced as new. */
function takeList(approvals: readonly Approval[], known: ReadonlySet<string> | undefined): ReadonlySet<string> {
  listed.value = [...approvals].reverse();
  if (known) for (const approval of approvals) if (!known.has(approval.approvalId)) tell(approval);
  return new Set(approvals.map(({ approvalId }) => approvalId));
}

function tell({ approvalId, tool, workspace, preview }: Approval): void {
  const words = `${tool} in ${nameOfWorkspace(workspace)} waits for you`;
  announce(words, { isUrgent: true });
  if (!document.hidden || !('Notification' in window) || Notification.permission !== 'granted') return;
  const notification = new Notification(words, { body: toOneLine(preview, 120), tag: approvalId });
  notification.onclick = () => {
    window.focus();
    navigate(`/approvals/${approvalId}`);
    notification.close();
  };
}

export function canAskToNotify(): boolean {
  return 'Notification' in window && Notification.permission === 'default';
}
