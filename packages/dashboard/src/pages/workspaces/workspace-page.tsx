import type { Workspace } from '@croft/protocol';
import { Icon } from '../../parts/icon.tsx';
import { mayDo } from '../../server/session.ts';
import { useResource } from '../../server/use-resource.ts';
import { FilesTab } from './files-tab.tsx';
import { HistoryTab } from './history-tab.tsx';
import { SnapshotsTab } from './snapshots-tab.tsx';

const tabs = { files: 'Files', history: 'History', snapshots: 'Snapshots' } as const;
type WorkspaceTab = keyof typeof tabs;

export function WorkspacePage({ id, tab }: { readonly id: string; readonly tab: WorkspaceTab }) {
  const root = `/workspaces/${encodeURIComponent(id)}`;
  const workspaces = useResource<{ workspaces: readonly Workspace[] }>('/v1/workspaces?limit=200');
  const name = workspaces.value.data?.workspaces.find(({ workspaceId }) => workspaceId === id)?.name ?? id;
  return (
    <div class="page page-workspace">
      <header class="page-head">
        <h1>
          <a class="crumb" href="/workspaces">
            Workspaces
          </a>{' '}
          {name}
        </h1>
        <nav class="subtabs" aria-label="Parts of the workspace">
          {Object.entries(tabs).map(([key, words]) => (
            <a key={key} href={`${root}/${key}`} aria-current={key === tab ? 'page' : undefined}>
              {words}
            </a>
          ))}
        </nav>
        <div class="page-actions">
          {mayDo('terminal') && (
            <a class="button" href={`/terminal?workspace=${encodeURIComponent(id)}`}>
              <Icon name="terminal" /> Terminal
            </a>
          )}
        </div>
      </header>
      {tab === 'files' && <FilesTab id={id} />}
      {tab === 'history' && <HistoryTab id={id} />}
      {tab === 'snapshots' && <SnapshotsTab id={id} />}
    </div>
  );
}
