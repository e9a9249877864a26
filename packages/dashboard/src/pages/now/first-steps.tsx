import type { Agent, Checkpoint } from '@croft/protocol';
import { useRef, useState } from 'preact/hooks';
import { setQuery } from '../../browser/router.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failure, Loaded } from '../../parts/loading-states.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { callTool } from '../../server/call-tool.ts';
import { mayDo } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { ConnectAgent } from '../agents/connect-agent.tsx';
import { NothingYet } from '../first-agent/nothing-yet.tsx';
import { UndoDialog } from '../workspaces/undo-dialog.tsx';

/** For somebody without an agent: a first call by hand, undone, and then the configuration for an agent. */
export function FirstSteps() {
  const agents = useResource<{ agents: readonly Agent[] }>(mayDo('read') ? '/v1/agents?limit=200' : undefined);
  return (
    <section class="steps" aria-label="First steps">
      <header class="steps-head">
        <h2>First steps</h2>
        <p class="muted">Do what an agent does, by hand. Everything goes the same way, and can be taken back.</p>
        <button
          type="button"
          class="icon-button"
          aria-label="Close the first steps"
          onClick={() => setQuery({ start: '0' }, { replace: true })}
        >
          <Icon name="close" />
        </button>
      </header>
      <Loaded from={agents} rows={3}>
        {({ agents: found }) => {
          const [agent] = found;
          return agent ? <Steps agent={agent} /> : <NothingYet what="agent" />;
        }}
      </Loaded>
    </section>
  );
}

function Steps({ agent }: { readonly agent: Agent }) {
  const startedAt = useRef(new Date(Date.now() - 1000).toISOString()).current;
  const [isUndoing, setUndoing] = useState(false);
  const [done, setDone] = useState<readonly string[]>([]);
  const workspaceId = agent.config.workspaces?.[0]?.workspaceId;
  const path =
    workspaceId === undefined ? undefined : `/v1/workspaces/${encodeURIComponent(workspaceId)}/checkpoints?limit=50`;
  const checkpoints = useResource<{ checkpoints: readonly Checkpoint[] }>(path).value.data?.checkpoints ?? [];
  const written = checkpoints.find(({ tool, at }) => tool === 'write' && at >= startedAt);
  const undone = written?.undoneBy !== undefined;
  const onDone = (tool: string) => {
    setDone((before) => [...before, tool]);
    if (path !== undefined) invalidate(path);
  };
  return (
    <ol class="steps-list">
      <li class={done.includes('write') ? 'step-done' : undefined}>
        <h3>Write a file</h3>
        <Step
          agentId={agent.agentId}
          tool="write"
          name="file_path"
          initial="hello.txt"
          fixed={{ content: 'Hello from a person.\n' }}
          action="Write"
          onDone={onDone}
        />
      </li>
      <li class={done.includes('bash') ? 'step-done' : undefined}>
        <h3>Run a command</h3>
        <Step
          agentId={agent.agentId}
          tool="bash"
          name="command"
          initial="cat hello.txt; id -un; ls"
          fixed={{}}
          action="Run"
          onDone={onDone}
        />
      </li>
      <li class={undone ? 'step-done' : undefined}>
        <h3>Take the write back</h3>
        <p class="muted">Both calls are in the feed below. Undo puts the files back to what they were.</p>
        <button type="button" class="button" disabled={!written || undone} onClick={() => setUndoing(true)}>
          <Icon name="undo" /> {undone ? 'Undone' : 'Undo the write'}
        </button>
        {isUndoing && written && workspaceId !== undefined && (
          <UndoDialog
            workspaceId={workspaceId}
            checkpointId={written.checkpointId}
            title={`${written.tool} ${written.title}`}
            onClose={() => setUndoing(false)}
          />
        )}
      </li>
      <li>
        <h3>Connect your own agent</h3>
        <ConnectAgent agent={agent} />
      </li>
    </ol>
  );
}

interface StepProps {
  readonly agentId: string;
  readonly tool: string;
  /** The argument that the person may change. */
  readonly name: string;
  readonly initial: string;
  readonly fixed: Readonly<Record<string, unknown>>;
  readonly action: string;
  onDone(tool: string): void;
}

function Step({ agentId, tool, name, initial, fixed, action, onDone }: StepProps) {
  const [value, setValue] = useState(initial);
  const [output, setOutput] = useState('');
  const [approvalId, setApprovalId] = useState<string | undefined>(undefined);
  const call = useAction(async () => {
    setOutput('');
    const end = await callTool({ agentId, tool, input: { ...fixed, [name]: value }, approvalId, onOutput: setOutput });
    setApprovalId(end.type === 'approval' ? end.approval.approvalId : undefined);
    if (end.type !== 'result') return;
    setOutput(describe(tool, end.result));
    onDone(tool);
  });
  return (
    <form
      class="step"
      onSubmit={(event) => {
        event.preventDefault();
        call.run();
      }}
    >
      <div class="step-line">
        <input aria-label={name} class="mono" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
        <button type="submit" class="button button-primary" disabled={call.isRunning || !mayDo('call')}>
          {call.isRunning ? 'Running…' : action}
        </button>
      </div>
      {approvalId !== undefined && (
        <p class="step-asks">
          It waits for a person. <a href={`/approvals/${approvalId}`}>Decide it</a>, come back, and press {action}{' '}
          again.
        </p>
      )}
      {call.error && <Failure error={call.error} />}
      {output !== '' && (
        <pre class="output" role="status">
          <Marked text={output} />
        </pre>
      )}
    </form>
  );
}

function describe(tool: string, result: Readonly<Record<string, unknown>>): string {
  if (tool === 'write') return 'Written.';
  const { output, exitCode: code } = result;
  return typeof output === 'string' && output !== '' ? output : `Ended with exit code ${String(code ?? 0)}.`;
}
