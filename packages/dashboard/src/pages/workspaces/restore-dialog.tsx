import { announce } from '../../browser/announce.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/loading-states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request, segment } from '../../server/request.ts';
import { invalidate } from '../../server/use-resource.ts';

interface RestoreDialogProps {
  readonly workspaceId: string;
  /** Without it, the files become what they were when tests last passed. */
  readonly snapshot?: string;
  onClose(): void;
}

export function RestoreDialog({ workspaceId, snapshot, onClose }: RestoreDialogProps) {
  const root = `/v1/workspaces/${segment(workspaceId)}`;
  const restore = useAction(async () => {
    await request(
      'POST',
      snapshot === undefined ? `${root}/restore-green` : `${root}/snapshots/${segment(snapshot)}/restore`,
    );
    announce('Restored');
    invalidate(`${root}/`);
    onClose();
  });
  const what = snapshot === undefined ? 'the state when tests last passed' : `the snapshot “${snapshot}”`;
  return (
    <Confirm
      title={`Restore ${what}?`}
      action={restore.isRunning ? 'Restoring…' : 'Restore'}
      onConfirm={restore.run}
      onClose={onClose}
    >
      <p class="muted">
        All files become what they were then. The restore is a step of the history, and can be undone.
      </p>
      {restore.error && <Failure error={restore.error} />}
    </Confirm>
  );
}
