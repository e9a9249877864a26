import { useState } from 'preact/hooks';
import { navigate, setQuery } from '../../browser/router.ts';
import { useShortcuts } from '../../browser/shortcuts.ts';
import type { FeedRow } from '../../live/feed-row.ts';
import { nameOfAgent, workspaceOf } from '../../live/record-names.ts';
import { Icon } from '../../parts/icon.tsx';
import { Ago, Id, Marked } from '../../parts/marked-text.tsx';
import { OutcomeMark, outcomeWords } from '../../parts/outcome-mark.tsx';
import { mayDo, session } from '../../server/session.ts';
import { toDuration, toSessionName } from '../../text/format-times-and-sizes.ts';
import { CheckpointDiff } from '../workspaces/checkpoint-diff.tsx';
import { UndoDialog } from '../workspaces/undo-dialog.tsx';
import { useCheckpointOf } from '../workspaces/use-checkpoint-of.ts';
import { nameOfCaller, titleOf } from './call-row.tsx';
import { RunningOutput } from './running-output.tsx';

/** Everything about one call, and what a person can do about it. */
export function CallPanel({ call }: { readonly call: FeedRow }) {
  const [isUndoing, setUndoing] = useState(false);
  const workspaceId = call.workspaceId || call.workspace;
  const title = titleOf(call);
  const checkpoint = useCheckpointOf(call);
  const mayUndo = checkpoint !== undefined && checkpoint.undoneBy === undefined && mayDo('write');
  const terminal = `/terminal?workspace=${encodeURIComponent(workspaceId)}&agent=${encodeURIComponent(call.agentId)}`;
  const mayTakeOver = workspaceId !== '' && mayDo('terminal');
  const close = () => setQuery({ call: undefined }, { replace: true });
  useShortcuts({
    ...(mayUndo && { u: () => setUndoing(true) }),
    ...(mayTakeOver && { t: () => navigate(terminal) }),
  });
  return (
    <aside class="panel" aria-label={`Call ${call.tool}`}>
      <header class="panel-head">
        <OutcomeMark outcome={call.outcome} />
        <h2>
          {call.tool} <span class="muted">{outcomeWords(call.outcome)}</span>
        </h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        {title !== '' && (
          <pre class="panel-title">
            <Marked text={title} />
          </pre>
        )}
        <Violations call={call} />
        <RunningOutput call={call} />
        <div class="actions">
          {mayUndo && (
            <button type="button" class="button" onClick={() => setUndoing(true)}>
              <Icon name="undo" /> Undo <kbd>u</kbd>
            </button>
          )}
          {mayTakeOver && (
            <a class="button" href={terminal}>
              <Icon name="terminal" /> Terminal here <kbd>t</kbd>
            </a>
          )}
        </div>
        <Facts call={call} />
        {checkpoint && <CheckpointDiff workspaceId={workspaceId} checkpointId={checkpoint.checkpointId} />}
      </div>
      {isUndoing && checkpoint && (
        <UndoDialog
          workspaceId={workspaceId}
          checkpointId={checkpoint.checkpointId}
          title={`${call.tool} ${call.title}`}
          onClose={() => setUndoing(false)}
        />
      )}
    </aside>
  );
}

function Violations({ call }: { readonly call: FeedRow }) {
  return (
    <>
      {call.violations.map(({ layer, rule, target, next }, index) => (
        <div class="violation" key={index}>
          <p>
            <strong>
              The fence refused{' '}
              {target === '' ? (
                'it'
              ) : (
                <code>
                  <Marked text={target} />
                </code>
              )}
            </strong>
            {rule !== '' && (
              <>
                : <Marked text={rule} />
              </>
            )}{' '}
            {layer !== '' && <span class="muted">({layer})</span>}
          </p>
          <WayOut layer={layer} target={target} next={next} />
        </div>
      ))}
    </>
  );
}

/** The server's advice is for an operator of flags. In an account, the sandbox says what it reaches. */
function WayOut({ layer, target, next }: Omit<FeedRow['violations'][number], 'rule'>) {
  if (layer === 'network' && target !== '' && !session.value?.isOperator)
    return (
      <p>
        To allow it: <code>croft sandboxes edit</code>, and in the network of the sandbox{' '}
        <code>
          <Marked text={`{"mode": "restricted", "allowDomains": [${JSON.stringify(target)}]}`} />
        </code>
      </p>
    );
  return next === '' ? null : (
    <p>
      To allow it: <Marked text={next} />
    </p>
  );
}

function Facts({ call }: { readonly call: FeedRow }) {
  return (
    <dl class="facts">
      <div>
        <dt>By</dt>
        <dd>
          {call.agentId === '' ? (
            nameOfCaller(call)
          ) : (
            <a href={`/agents/${encodeURIComponent(call.agentId)}/calls`}>{nameOfAgent(call.agentId)}</a>
          )}
        </dd>
      </div>
      {workspaceOf(call) !== '' && (
        <div>
          <dt>Workspace</dt>
          <dd>
            <a href={`/workspaces/${encodeURIComponent(call.workspaceId || call.workspace)}/files`}>
              {workspaceOf(call)}
            </a>
          </dd>
        </div>
      )}
      <div>
        <dt>Began</dt>
        <dd>
          <Ago at={call.at} />
          {call.durationMs !== undefined && `, took ${toDuration(call.durationMs)}`}
        </dd>
      </div>
      {call.exitCode !== undefined && (
        <div>
          <dt>Exit code</dt>
          <dd>{call.exitCode}</dd>
        </div>
      )}
      {call.code !== undefined && (
        <div>
          <dt>Error</dt>
          <dd>
            <code>{call.code}</code>
          </dd>
        </div>
      )}
      <div>
        <dt>Session</dt>
        <dd title={call.session}>{toSessionName(call.session)}</dd>
      </div>
      <div>
        <dt>Call</dt>
        <dd>
          <Id id={call.key} />
        </dd>
      </div>
    </dl>
  );
}
