import type { Workspace } from '@croft/protocol';
import { Loaded } from '../../parts/loading-states.tsx';
import { Ago, Id } from '../../parts/marked-text.tsx';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { NothingYet } from '../first-agent/nothing-yet.tsx';

const path = '/v1/workspaces?limit=200';

export function WorkspacesPage() {
  const workspaces = useResource<{ workspaces: readonly Workspace[] }>(path);
  return (
    <div class="page">
      <header class="page-head">
        <h1>Workspaces</h1>
      </header>
      <Loaded from={workspaces} onRetry={() => invalidate(path)}>
        {({ workspaces: found }) =>
          found.length === 0 ? (
            <NothingYet what="workspace" />
          ) : (
            <ul class="things">
              {found.map((workspace) => (
                <WorkspaceLine key={workspace.workspaceId} workspace={workspace} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </div>
  );
}

function WorkspaceLine({ workspace }: { readonly workspace: Workspace }) {
  const { workspaceId, name, description, createdAt, config } = workspace;
  const root = `/workspaces/${encodeURIComponent(workspaceId)}`;
  return (
    <li class="thing">
      <a class="thing-name" href={`${root}/files`}>
        {name}
      </a>
      <span class="thing-about">
        {description ?? (config?.storage?.provider === 's3' ? 'in a bucket' : '')}
        {config?.forkOf && ` fork of ${config.forkOf}`}
      </span>
      <span class="thing-links">
        <a href={`${root}/history`}>history</a> <a href={`${root}/snapshots`}>snapshots</a>
      </span>
      <span class="thing-end">
        made <Ago at={createdAt} />
      </span>
      <Id id={workspaceId} />
    </li>
  );
}
