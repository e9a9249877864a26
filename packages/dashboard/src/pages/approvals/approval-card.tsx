import type { Approval } from '@croft/protocol';
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { now } from '../../browser/clock.ts';
import { connection } from '../../live/event-stream.ts';
import { pendingApprovals } from '../../live/pending-approvals.ts';
import { nameOfAgent, nameOfWorkspace } from '../../live/record-names.ts';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { mayDo, session } from '../../server/session.ts';
import { toModeWords, toShortId, toSpan } from '../../text/format-times-and-sizes.ts';
import { ApprovalContent, isFolded } from './approval-content.tsx';
import { JustBefore } from './calls-just-before.tsx';
import { DecisionBar } from './decision-bar.tsx';
import { toPhrase } from './describe-approval.ts';

interface ApprovalCardProps {
  readonly approval: Approval;
  readonly next: Approval | undefined;
  readonly shownAt: RefObject<number>;
}

/** Exactly what would run, where, and under which rules. */
export function ApprovalCard({ approval, next, shownAt }: ApprovalCardProps) {
  const { setting, askedBefore = 0 } = approval;
  const [isUnfolded, setUnfolded] = useState(!isFolded(approval));
  useEffect(() => {
    shownAt.current = performance.now();
  }, []);
  const left = Date.parse(approval.expiresAt) - now.value;
  const isOpen = approval.state === 'pending' && left > 0;
  return (
    <article class={isOpen ? 'approval' : 'approval approval-over'} data-approval={approval.approvalId}>
      <header class="approval-head">
        {isOpen && <WhichOne id={approval.approvalId} />}
        <h2>
          <span class="approval-who">{nameOfAgent(approval.agentId)}</span> {toPhrase(approval.tool)} in{' '}
          <span class="approval-where">{nameOfWorkspace(approval.workspace)}</span>
        </h2>
        <p class="muted">
          asked <Ago at={approval.createdAt} />
          {isOpen && <> · expires in {toSpan(left)}</>} ·{' '}
          {askedBefore === 0 ? 'for the first time' : `asked ${askedBefore + 1} times`}
        </p>
      </header>
      {setting && <SettingLine setting={setting} />}
      <ApprovalContent approval={approval} isUnfolded={isUnfolded} onUnfold={() => setUnfolded(true)} />
      <JustBefore approval={approval} />
      {isOpen && mayDo('approve') ? (
        <DecisionBar approval={approval} blockedBy={blockedBy(isUnfolded)} shownAt={shownAt} />
      ) : (
        <Ending approval={approval} isExpired={approval.state === 'pending' && left <= 0} next={next} />
      )}
    </article>
  );
}

function WhichOne({ id }: { readonly id: string }) {
  const all = pendingApprovals.value;
  const index = all.findIndex(({ approvalId }) => approvalId === id);
  if (index < 0) return null;
  return (
    <span class="approval-count">
      {index + 1} of {all.length}
    </span>
  );
}

function blockedBy(isUnfolded: boolean): string | undefined {
  if (connection.value === 'away') return 'The server does not answer: nothing can be decided.';
  return isUnfolded ? undefined : 'Show all of it first. What is not on the screen cannot be approved.';
}

type Setting = NonNullable<Approval['setting']>;

/** Hosts that are shown; the tooltip has all of them. */
const shownHosts = 3;

function Network({ network, hosts }: { readonly network: Setting['network']; readonly hosts: readonly string[] }) {
  if (network === 'deny-all') return <li>no network</li>;
  if (network === 'allow-all') return <li class="setting-open">every public host</li>;
  const more = hosts.length - shownHosts;
  return (
    <li title={hosts.join(', ')}>
      network:{' '}
      <code>
        <Marked text={hosts.length === 0 ? 'no host' : hosts.slice(0, shownHosts).join(', ')} />
      </code>
      {more > 0 && ` and ${more} more`}
    </li>
  );
}

function SettingLine({ setting }: { readonly setting: Setting }) {
  const { permissionMode, directory, network, hosts = [], controlFiles = [] } = setting;
  return (
    <>
      <ul class="setting">
        <li title={`permission mode ${permissionMode}`}>{toModeWords(permissionMode)}</li>
        {directory !== '' && directory !== '.' && (
          <li>
            in <code>{directory}</code>
          </li>
        )}
        {network && <Network network={network} hosts={hosts} />}
      </ul>
      {controlFiles.length > 0 && (
        <p class="control-files">
          It changes files that programs outside the sandbox obey:{' '}
          {controlFiles.map((file) => (
            <code key={file}>
              <Marked text={file} />
            </code>
          ))}
        </p>
      )}
    </>
  );
}

/** The person who looks, or a key by the end of its id. */
function nameOfDecider(decidedBy: string): string {
  if (decidedBy === session.value?.label) return 'you';
  return decidedBy.split(' ').map(toShortId).join(' ');
}

interface EndingProps {
  readonly approval: Approval;
  readonly isExpired: boolean;
  readonly next: Approval | undefined;
}

const endings: Readonly<Record<Approval['state'], string>> = {
  pending: 'You have no key that decides. Somebody else can.',
  approved: 'Approved',
  used: 'Approved, and used by its call',
  denied: 'Denied',
  expired: 'Expired: nobody decided in time',
};

function Ending({ approval, isExpired, next }: EndingProps) {
  const { state, decidedBy, decidedAt, reason } = approval;
  return (
    <footer class={`decision decision-${isExpired ? 'expired' : state}`}>
      <p role="status">
        <strong>{endings[isExpired ? 'expired' : state]}</strong>
        {decidedBy && ` by ${nameOfDecider(decidedBy)}`} {decidedAt && <Ago at={decidedAt} />}
        {reason && (
          <>
            : <Marked text={reason} />
          </>
        )}
      </p>
      {next && (
        <a class="button" href={`/approvals/${next.approvalId}`}>
          Next <kbd>j</kbd>
        </a>
      )}
    </footer>
  );
}
