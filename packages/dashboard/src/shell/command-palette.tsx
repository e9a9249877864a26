import type { Agent, Workspace } from '@croft/protocol';
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { navigate } from '../browser/router.ts';
import { nextTheme, setTheme } from '../browser/theme.ts';
import { Dialog } from '../parts/dialog.tsx';
import { session, signOut } from '../server/session.ts';
import { useResource } from '../server/use-resource.ts';

export const isPaletteOpen = signal(false);

interface Target {
  readonly name: string;
  readonly kind: string;
  go(): void;
}

const to = (name: string, href: string, kind = 'page'): Target => ({ name, kind, go: () => navigate(href) });

const pages: readonly Target[] = [
  to('Now', '/'),
  to('Approvals', '/approvals'),
  to('Workspaces', '/workspaces'),
  to('Agents', '/agents'),
  to('Machines', '/machines'),
  to('Audit', '/audit'),
  to('Terminal', '/terminal'),
  to('First steps', '/?start=1'),
  { name: 'Change theme', kind: 'action', go: () => setTheme(nextTheme()) },
  { name: 'Sign out', kind: 'action', go: () => void signOut() },
];

/** Jumps to a page, a workspace or an agent, and acts. */
export function Palette() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const found = useTargets().filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  const index = Math.min(chosen, found.length - 1);
  const close = () => {
    isPaletteOpen.value = false;
  };
  const act = (target: Target | undefined) => {
    close();
    target?.go();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setChosen((index + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') act(found[index]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find" onClose={close}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={`palette-${index}`}
        aria-label="Go to"
        placeholder="Go to a page, a workspace, an agent…"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={press}
      />
      <div id="palette" class="palette-list" role="listbox" aria-label="Places">
        {found.slice(0, 12).map((target, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus.
          <div
            key={`${target.kind} ${target.name}`}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === index}
            onClick={() => act(target)}
          >
            <span>{target.name}</span>
            <span class="muted">{target.kind}</span>
          </div>
        ))}
        {found.length === 0 && <p class="muted">Nothing has this name.</p>}
      </div>
    </Dialog>
  );
}

function useTargets(): Target[] {
  const workspaces =
    useResource<{ workspaces: readonly Workspace[] }>('/v1/workspaces?limit=200').value.data?.workspaces ?? [];
  const agents = useResource<{ agents: readonly Agent[] }>('/v1/agents?limit=200').value.data?.agents ?? [];
  return [
    ...pages,
    ...(session.value?.isOperator ? [] : [to('Keys', '/keys')]),
    ...workspaces.flatMap(({ name, workspaceId }) => [
      to(name, `/workspaces/${encodeURIComponent(workspaceId)}/files`, 'files'),
      to(`${name} history`, `/workspaces/${encodeURIComponent(workspaceId)}/history`, 'history'),
    ]),
    ...agents.map(({ name, agentId }) => to(name, `/agents/${encodeURIComponent(agentId)}/calls`, 'agent')),
  ];
}
