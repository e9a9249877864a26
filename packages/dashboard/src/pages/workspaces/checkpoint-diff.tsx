import type { Checkpoint, SnapshotDiff } from '@croft/protocol';
import { signal } from '@preact/signals';
import type { z } from 'zod';
import { DiffFile, type DiffLayout } from '../../parts/diff-view.tsx';
import { Loaded } from '../../parts/loading-states.tsx';
import { useResource } from '../../server/use-resource.ts';
import { toCount } from '../../text/format-times-and-sizes.ts';

type Changes = z.output<typeof SnapshotDiff>['changes'];

const layout = signal<DiffLayout>(localStorage.getItem('croft-diff') === 'split' ? 'split' : 'unified');

function setLayout(chosen: DiffLayout): void {
  layout.value = chosen;
  localStorage.setItem('croft-diff', chosen);
}

interface CheckpointDiffProps {
  readonly workspaceId: string;
  readonly checkpointId: string;
}

/** The diff of one checkpoint: the changes of one call. */
export function CheckpointDiff({ workspaceId, checkpointId }: CheckpointDiffProps) {
  const root = `/v1/workspaces/${encodeURIComponent(workspaceId)}/checkpoints/${encodeURIComponent(checkpointId)}`;
  const diff = useResource<{ checkpoint: Checkpoint; paths: number; changes: Changes }>(`${root}/diff`);
  return (
    <Loaded from={diff} rows={6}>
      {({ paths, changes }) => <ChangedFiles paths={paths} changes={changes} />}
    </Loaded>
  );
}

/** More files than this are folded at first. */
const mostOpen = 20;

export function ChangedFiles({ paths, changes }: { readonly paths: number; readonly changes: Changes }) {
  return (
    <div class="changes">
      <div class="changes-head">
        <span>{toCount(paths, 'file')}</span>
        <div class="segments" role="group" aria-label="Layout of the diff">
          {(['unified', 'split'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={layout.value === name} onClick={() => setLayout(name)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      {changes.map((change, index) => (
        <DiffFile
          key={change.path}
          path={change.path}
          diff={change.diff}
          change={describe(change)}
          layout={layout.value}
          isOpen={index < mostOpen}
        />
      ))}
      {changes.length < paths && <p class="note muted">The first {changes.length} are shown.</p>}
    </div>
  );
}

function describe({ before, after }: Changes[number]): string {
  if (!before) return 'new';
  if (!after) return 'removed';
  return before.hash === after.hash && before.mode !== after.mode ? 'mode' : '';
}
