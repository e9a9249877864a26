import type { Snapshot, SnapshotDiff } from '@croft/protocol';
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import { announce } from '../../browser/announce.ts';
import { setQuery, useQuery, withQuery } from '../../browser/router.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failure, Loaded } from '../../parts/loading-states.tsx';
import { Ago } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request, segment } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { toCount, toSize } from '../../text/format-times-and-sizes.ts';
import { ChangedFiles } from './checkpoint-diff.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

export function SnapshotsTab({ id }: { readonly id: string }) {
  const path = `/v1/workspaces/${segment(id)}/snapshots`;
  const snapshots = useResource<{ snapshots: readonly Snapshot[] }>(path);
  const [restoring, setRestoring] = useState<string | undefined>(undefined);
  const compared = useQuery('compare');
  return (
    <>
      {mayDo('write') && <TakeSnapshot path={path} />}
      <div class={compared === undefined ? 'split' : 'split has-panel has-wide-panel'}>
        <div class="split-main">
          <Loaded from={snapshots} onRetry={() => invalidate(path)}>
            {({ snapshots: found }) =>
              found.length === 0 ? (
                <Empty>
                  <p>A snapshot keeps all files under a name, so that you can come back to them.</p>
                </Empty>
              ) : (
                <ul class="things">
                  {found.map((snapshot) => (
                    <SnapshotLine key={snapshot.name} id={id} snapshot={snapshot} onRestore={setRestoring} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </div>
        {compared !== undefined && <Comparison path={path} name={compared} />}
      </div>
      {restoring !== undefined && (
        <RestoreDialog workspaceId={id} snapshot={restoring} onClose={() => setRestoring(undefined)} />
      )}
    </>
  );
}

function TakeSnapshot({ path }: { readonly path: string }) {
  const [name, setName] = useState('');
  const take = useAction(async () => {
    await request('POST', path, { body: { name: name.trim() } });
    announce('Snapshot taken');
    setName('');
    invalidate(path);
  });
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') take.run();
      }}
    >
      <input
        class="wide-input"
        aria-label="Name of the new snapshot"
        placeholder="Name, such as before-release"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <button type="submit" class="button toolbar-next" disabled={take.isRunning || name.trim() === ''}>
        <Icon name="camera" /> Take a snapshot
      </button>
      {take.error && <Failure error={take.error} />}
    </form>
  );
}

interface SnapshotLineProps {
  readonly id: string;
  readonly snapshot: Snapshot;
  onRestore(name: string): void;
}

function SnapshotLine({ id, snapshot, onRestore }: SnapshotLineProps) {
  const { name, description, createdAt, files, bytes, checks, isAutomatic } = snapshot;
  return (
    <li class="thing">
      <a class="thing-name" href={`/workspaces/${encodeURIComponent(id)}/files?snapshot=${encodeURIComponent(name)}`}>
        {name}
      </a>
      <span class="thing-about">
        {description || (isAutomatic ? 'made by Croft before files changed' : '')}
        {checks.map(({ tool, verdict }) => (
          <span key={tool} class={`verdict verdict-${verdict}`}>
            {tool} {verdict}
          </span>
        ))}
      </span>
      <span class="thing-links">
        {toCount(files, 'file')}, {toSize(bytes)}
      </span>
      <span class="thing-end">
        <Ago at={createdAt} />
      </span>
      <span class="thing-actions">
        <a class="button button-quiet" href={withQuery({ compare: name })}>
          Compare with now
        </a>
        {mayDo('write') && (
          <button type="button" class="button button-quiet" onClick={() => onRestore(name)}>
            Restore<span class="visually-hidden"> {name}</span>
          </button>
        )}
      </span>
    </li>
  );
}

function Comparison({ path, name }: { readonly path: string; readonly name: string }) {
  const diff = useResource<z.output<typeof SnapshotDiff>>(`${path}/${segment(name)}/diff`);
  return (
    <aside class="panel" aria-label={`Changes since ${name}`}>
      <header class="panel-head">
        <h2>Since {name}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Close"
          onClick={() => setQuery({ compare: undefined }, { replace: true })}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <Loaded from={diff}>
          {({ paths, changes }) =>
            paths === 0 ? (
              <Empty>
                <p>The files are the same as in the snapshot.</p>
              </Empty>
            ) : (
              <ChangedFiles paths={paths} changes={changes} />
            )
          }
        </Loaded>
      </div>
    </aside>
  );
}
