import type { Agent, Sandbox, Workspace } from '@croft/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { setQuery, useQuery } from '../../browser/router.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failure } from '../../parts/loading-states.tsx';
import { mayDo } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { connectTerminal, type TerminalPlace, type TerminalState } from './connect-terminal.ts';

/** A prompt in a sandbox, over a workspace. Nothing in the address is ever typed. */
export function TerminalPage() {
  const { workspaces, sandboxes, target } = useTarget();
  const [isOpen, setOpen] = useState(useQuery('terminal') !== undefined || useQuery('workspace') !== undefined);
  if (!mayDo('terminal'))
    return (
      <Empty>
        <p>A terminal needs a key of the scope “terminal”.</p>
      </Empty>
    );
  return (
    <div class="page page-terminal">
      <header class="page-head">
        <h1>Terminal</h1>
        {!isOpen && (
          <>
            <Picker label="Workspace" name="workspace" value={target?.workspaceId} options={workspaces} />
            <Picker label="Sandbox" name="sandbox" value={target?.sandboxId} options={sandboxes} />
            <button type="button" class="button button-primary" disabled={!target} onClick={() => setOpen(true)}>
              Open
            </button>
          </>
        )}
        {isOpen && target && (
          <p class="muted">
            {nameOf(workspaces, target.workspaceId)} in {nameOf(sandboxes, target.sandboxId)}. A shell for you: it asks
            nobody, and the fence of the sandbox holds.
          </p>
        )}
      </header>
      {isOpen && target ? (
        <OpenTerminal
          key={`${target.sandboxId} ${target.workspaceId}`}
          target={target}
          onClose={() => {
            setQuery({ terminal: undefined }, { replace: true });
            setOpen(false);
          }}
        />
      ) : (
        <Empty>
          <p>{target ? 'Choose where, and open a shell there.' : 'A terminal needs a workspace and a sandbox.'}</p>
        </Empty>
      )}
    </div>
  );
}

interface Choice {
  readonly id: string;
  readonly name: string;
}

function nameOf(choices: readonly Choice[], id: string): string {
  return choices.find((choice) => choice.id === id)?.name ?? id;
}

/** Returns workspace and sandbox of the terminal: those in the address, or those of an agent, or the first ones. */
function useTarget() {
  const workspaces = (
    useResource<{ workspaces: readonly Workspace[] }>('/v1/workspaces?limit=200').value.data?.workspaces ?? []
  ).map(({ workspaceId: id, name }) => ({ id, name }));
  const sandboxes = (
    useResource<{ sandboxes: readonly Sandbox[] }>('/v1/sandboxes?limit=200').value.data?.sandboxes ?? []
  ).map(({ sandboxId: id, name }) => ({ id, name }));
  const agents = useResource<{ agents: readonly Agent[] }>('/v1/agents?limit=200').value.data?.agents;
  const [workspace, sandbox, agentId] = [useQuery('workspace'), useQuery('sandbox'), useQuery('agent')];
  const workspaceId = workspace ?? workspaces[0]?.id;
  const agent = agents?.find((one) => one.agentId === agentId);
  const ofAgent =
    agent?.config.workspaces?.find((one) => one.workspaceId === workspaceId)?.sandbox ?? agent?.config.sandbox;
  const sandboxId = sandbox ?? ofAgent ?? sandboxes[0]?.id;
  const isKnown = agentId === undefined || agents !== undefined;
  const target: TerminalPlace | undefined =
    isKnown && workspaceId !== undefined && sandboxId !== undefined ? { workspaceId, sandboxId } : undefined;
  return { workspaces, sandboxes, target };
}

interface PickerProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
  readonly options: readonly Choice[];
}

function Picker({ label, name, value, options }: PickerProps) {
  return (
    <select
      aria-label={label}
      value={value ?? ''}
      onChange={(event) => setQuery({ [name]: event.currentTarget.value }, { replace: true })}
    >
      {options.map(({ id, name: title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  );
}

function OpenTerminal({ target, onClose }: { readonly target: TerminalPlace; onClose(): void }) {
  const element = useRef<HTMLDivElement>(null);
  const terminal = useQuery('terminal');
  const [state, setState] = useState<TerminalState>({ kind: 'connecting' });
  const connection = useRef<ReturnType<typeof connectTerminal> | undefined>(undefined);
  useEffect(() => {
    let dispose = () => {};
    let isGone = false;
    void import('./terminal-screen.ts').then(({ openScreen }) => {
      if (isGone || !element.current) return;
      const screen = openScreen(element.current);
      const onAttached = (id: string) => setQuery({ terminal: id }, { replace: true });
      const opened = connectTerminal({ target, screen, terminal, onState: setState, onAttached });
      connection.current = opened;
      screen.onType((text) => opened.type(text));
      screen.onResize(() => opened.resize());
      screen.focus();
      dispose = () => {
        opened.leave();
        screen.dispose();
      };
    });
    return () => {
      isGone = true;
      dispose();
    };
  }, []);
  return (
    <div class="terminal-frame">
      <div class="terminal-bar">
        <span role="status">{describe(state)}</span>
        {state.kind === 'ended' || state.kind === 'refused' ? (
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
        ) : (
          <button type="button" class="button" onClick={() => connection.current?.end()}>
            <Icon name="stop" /> End the shell
          </button>
        )}
      </div>
      {state.kind === 'refused' && <Failure error={state.error} />}
      <div class="terminal-screen" ref={element} />
    </div>
  );
}

function describe(state: TerminalState): string {
  switch (state.kind) {
    case 'connecting':
      return 'Opening…';
    case 'open':
      return 'Connected';
    case 'away':
      return 'The connection was cut. The shell goes on; connecting again…';
    case 'ended':
      return `The shell ended with ${state.code}.`;
    case 'refused':
      return 'The terminal could not be opened.';
  }
}
