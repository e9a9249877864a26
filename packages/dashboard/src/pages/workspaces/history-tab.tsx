import type { Checkpoint, Snapshot } from '@croft/protocol';
import { useState } from 'preact/hooks';
import { setQuery, useQuery, withQuery } from '../../browser/router.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import { findCall } from '../../live/live-feed.ts';
import { nameOfAgent } from '../../live/record-names.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { mayDo, session as signedIn } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { toCount, toSessionName } from '../../text/format-times-and-sizes.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';
import { CheckpointDiff } from './checkpoint-diff.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { UndoDialog } from './undo-dialog.tsx';

type Step =
  | { readonly kind: 'call'; readonly at: string; readonly checkpoint: Checkpoint }
  | { readonly kind: 'snapshot'; readonly at: string; readonly snapshot: Snapshot };

/** The calls that changed files, newest first, with the snapshots between them. */
export function HistoryTab({ id }: { readonly id: string }) {
  const root = `/v1/workspaces/${encodeURIComponent(id)}`;
  const checkpoints = useResource<{ checkpoints: readonly Checkpoint[] }>(`${root}/checkpoints?limit=200`);
  const snapshots = useResource<{ snapshots: readonly Snapshot[] }>(`${root}/snapshots`);
  const [undoing, setUndoing] = useState<Checkpoint | undefined>(undefined);
  const [isRestoring, setRestoring] = useState(false);
  const selected = useQuery('checkpoint');
  const steps = toSteps(checkpoints.value.data?.checkpoints ?? [], snapshots.value.data?.snapshots ?? []);
  const last = checkpoints.value.data?.checkpoints.find(({ undoneBy }) => undoneBy === undefined);
  const isGreenKnown = snapshots.value.data?.snapshots.some(({ checks }) =>
    checks.some(({ verdict }) => verdict === 'passed'),
  );
  useStepKeys(checkpoints.value.data?.checkpoints ?? [], selected, setUndoing);
  return (
    <>
      {mayDo('write') && last && (
        <div class="toolbar">
          <button type="button" class="button" onClick={() => setUndoing(last)}>
            <Icon name="undo" /> Undo last
          </button>
          {isGreenKnown && (
            <button type="button" class="button" onClick={() => setRestoring(true)}>
              <Icon name="check" /> Restore when tests passed
            </button>
          )}
        </div>
      )}
      <div class={selected === undefined ? 'split' : 'split has-panel has-wide-panel'}>
        <div class="split-main">
          <Loaded from={checkpoints} rows={10} onRetry={() => invalidate(root)}>
            {() =>
              steps.length === 0 ? (
                <Empty>
                  <p>No call has changed a file of this workspace yet.</p>
                </Empty>
              ) : (
                <ol class="timeline">
                  {steps.map((step) => (
                    <StepLine key={keyOf(step)} step={step} selected={selected} onUndo={setUndoing} />
                  ))}
                </ol>
              )
            }
          </Loaded>
        </div>
        {selected !== undefined && (
          <CheckpointPanel
            id={id}
            checkpointId={selected}
            onUndo={setUndoing}
            all={checkpoints.value.data?.checkpoints ?? []}
          />
        )}
      </div>
      {undoing && (
        <UndoDialog
          workspaceId={id}
          checkpointId={undoing.checkpointId}
          title={`${undoing.tool} ${undoing.title}`}
          onClose={() => setUndoing(undefined)}
        />
      )}
      {isRestoring && <RestoreDialog workspaceId={id} onClose={() => setRestoring(false)} />}
    </>
  );
}

function useStepKeys(all: readonly Checkpoint[], selected: string | undefined, undo: (checkpoint: Checkpoint) => void) {
  const index = all.findIndex(({ checkpointId }) => checkpointId === selected);
  const select = (at: number) => {
    const found = all[Math.max(0, Math.min(all.length - 1, at))];
    if (found) setQuery({ checkpoint: found.checkpointId }, { replace: true });
  };
  useShortcuts({
    j: () => select(index + 1),
    k: () => select(index - 1),
    Escape: () => setQuery({ checkpoint: undefined }, { replace: true }),
    u: () => {
      const found = all[index];
      if (found && mayDo('write')) undo(found);
    },
  });
}

function toSteps(checkpoints: readonly Checkpoint[], snapshots: readonly Snapshot[]): Step[] {
  const steps: Step[] = [
    ...checkpoints.map((checkpoint) => ({ kind: 'call' as const, at: checkpoint.at, checkpoint })),
    ...snapshots.map((snapshot) => ({ kind: 'snapshot' as const, at: snapshot.createdAt, snapshot })),
  ];
  return steps.sort((one, other) => (one.at < other.at ? 1 : -1));
}

function keyOf(step: Step): string {
  return step.kind === 'call' ? step.checkpoint.checkpointId : `snapshot ${step.snapshot.name}`;
}

interface StepLineProps {
  readonly step: Step;
  readonly selected: string | undefined;
  onUndo(checkpoint: Checkpoint): void;
}

function StepLine({ step, selected, onUndo }: StepLineProps) {
  if (step.kind === 'snapshot') return <SnapshotLine snapshot={step.snapshot} />;
  const { checkpoint } = step;
  const { checkpointId, tool, title, session, at, paths, undoneBy, isPartial } = checkpoint;
  const isUndone = undoneBy !== undefined;
  return (
    <li class={isUndone ? 'moment moment-undone' : 'moment'}>
      <span class="moment-sign" role="img" aria-label={isUndone ? 'undone call' : 'call'}>
        {isUndone ? '○' : '●'}
      </span>
      <a
        class="moment-what"
        href={withQuery({ checkpoint: checkpointId })}
        aria-current={selected === checkpointId ? 'true' : undefined}
      >
        <span class="call-tool">{tool}</span>{' '}
        <code>
          <Marked text={toOneLine(title, 200)} />
        </code>
      </a>
      <span class="muted moment-about">
        <span title={session}>{[toCount(paths, 'file'), ...whoDid(checkpoint)].join(' · ')}</span>
        {isUndone && ' · undone'}
        {isPartial && ' · its first changes were not captured'}
      </span>
      <span class="moment-end">
        <Ago at={at} />
        {mayDo('write') && !isUndone && (
          <button type="button" class="button button-quiet" onClick={() => onUndo(checkpoint)}>
            Undo
            <span class="visually-hidden">
              {' '}
              {tool} {title}
            </span>
          </button>
        )}
      </span>
    </li>
  );
}

/** The agent, if its call is in the feed. Most clients have one session, whose name says nothing. */
function whoDid({ call, session }: Checkpoint): string[] {
  if (session === signedIn.value?.label) return ['you'];
  const agentId = call === undefined ? undefined : findCall(call)?.agentId;
  const name = toSessionName(session);
  return [...(agentId ? [nameOfAgent(agentId)] : []), ...(name === 'default' ? [] : [name])];
}

function SnapshotLine({ snapshot }: { readonly snapshot: Snapshot }) {
  const { name, createdAt, checks, isAutomatic } = snapshot;
  return (
    <li class="moment moment-snapshot">
      <span class="moment-sign" role="img" aria-label="snapshot">
        ◆
      </span>
      <span class="moment-what">
        {isAutomatic ? 'automatic snapshot' : 'snapshot'} <strong>{name}</strong>
      </span>
      <span class="muted moment-about">{checks.map(({ tool, verdict }) => `${tool} ${verdict}`).join(', ')}</span>
      <span class="moment-end">
        <Ago at={createdAt} />
      </span>
    </li>
  );
}

interface CheckpointPanelProps {
  readonly id: string;
  readonly checkpointId: string;
  readonly all: readonly Checkpoint[];
  onUndo(checkpoint: Checkpoint): void;
}

function CheckpointPanel({ id, checkpointId, all, onUndo }: CheckpointPanelProps) {
  const checkpoint = all.find((known) => known.checkpointId === checkpointId);
  return (
    <aside class="panel" aria-label="Changes of the call">
      <header class="panel-head">
        <h2>
          {checkpoint ? (
            <>
              {checkpoint.tool}{' '}
              <span class="muted">
                <Marked text={toOneLine(checkpoint.title, 80)} />
              </span>
            </>
          ) : (
            'Changes'
          )}
        </h2>
        {checkpoint && checkpoint.undoneBy === undefined && mayDo('write') && (
          <button type="button" class="button" onClick={() => onUndo(checkpoint)}>
            <Icon name="undo" /> Undo this
          </button>
        )}
        <button
          type="button"
          class="icon-button"
          aria-label="Close"
          onClick={() => setQuery({ checkpoint: undefined }, { replace: true })}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <CheckpointDiff workspaceId={id} checkpointId={checkpointId} />
      </div>
    </aside>
  );
}
