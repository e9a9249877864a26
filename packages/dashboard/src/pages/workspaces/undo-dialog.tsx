import { announce } from '../../browser/announce.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/loading-states.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request } from '../../server/request.ts';
import { invalidate } from '../../server/use-resource.ts';
import { toOneLine } from '../../text/mark-hidden-characters.ts';

interface UndoDialogProps {
  readonly workspaceId: string;
  /** Without it, the last call is undone. */
  readonly checkpointId?: string;
  readonly title: string;
  onClose(): void;
}

/** Asks before files change, and says why if later work is in the way. */
export function UndoDialog({ workspaceId, checkpointId, title, onClose }: UndoDialogProps) {
  const root = `/v1/workspaces/${encodeURIComponent(workspaceId)}`;
  const undo = useAction(async () => {
    await request('POST', `${root}/undo`, { body: checkpointId === undefined ? { calls: 1 } : { checkpointId } });
    announce('Undone');
    invalidate(`${root}/`);
    onClose();
  });
  return (
    <Confirm
      title="Undo this call?"
      action={undo.isRunning ? 'Undoing…' : 'Undo'}
      onConfirm={undo.run}
      onClose={onClose}
    >
      <p>
        <code>
          <Marked text={toOneLine(title, 200)} />
        </code>
      </p>
      <p class="muted">
        The files become what they were before it. The undo is a step of the history too, and can be undone.
      </p>
      {undo.error && <Failure error={undo.error} />}
    </Confirm>
  );
}
