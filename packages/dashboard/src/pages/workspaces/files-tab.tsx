import type { FileEntry, FileList, Snapshot } from '@croft/protocol';
import { useEffect, useRef } from 'preact/hooks';
import { setQuery, useQuery, withQuery } from '../../browser/router.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/loading-states.tsx';
import { Ago, Marked } from '../../parts/marked-text.tsx';
import { toSearch } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { invalidate, useResource } from '../../server/use-resource.ts';
import { toSize } from '../../text/format-times-and-sizes.ts';
import { FileView } from './file-view.tsx';
import { SearchResults } from './search-results.tsx';
import { UploadButton } from './upload-button.tsx';

/** The files of a workspace, as they are or as they were in a snapshot. */
export function FilesTab({ id }: { readonly id: string }) {
  const [folder, file, snapshot, search] = [
    useQuery('path') ?? '',
    useQuery('file'),
    useQuery('snapshot'),
    useQuery('search'),
  ];
  const root = `/v1/workspaces/${encodeURIComponent(id)}`;
  return (
    <div class="files">
      <div class="toolbar">
        <Breadcrumbs folder={folder} />
        <SnapshotPicker root={root} snapshot={snapshot} />
        <SearchField search={search} />
        <a class="button" href={`${root}/download${toSearch({ path: folder })}`} download>
          <Icon name="download" /> <span class="button-words">Zip</span>
        </a>
        {mayDo('write') && snapshot === undefined && <UploadButton root={root} folder={folder} />}
      </div>
      {snapshot !== undefined && (
        <div class="banner banner-quiet">
          These are the files of the snapshot <strong>{snapshot}</strong>.{' '}
          <a href={withQuery({ snapshot: undefined })}>Show them as they are now</a>
        </div>
      )}
      <div class={file === undefined ? 'split' : 'split has-panel has-wide-panel'}>
        <div class="split-main">
          {search !== undefined && search !== '' ? (
            <SearchResults root={root} pattern={search} folder={folder} />
          ) : (
            <Folder root={root} folder={folder} snapshot={snapshot} file={file} />
          )}
        </div>
        {file !== undefined && <FileView key={`${file} ${snapshot}`} root={root} path={file} snapshot={snapshot} />}
      </div>
    </div>
  );
}

function Breadcrumbs({ folder }: { readonly folder: string }) {
  const parts = folder === '' ? [] : folder.split('/');
  return (
    <nav class="breadcrumbs" aria-label="Folder">
      <a href={withQuery({ path: undefined, file: undefined, search: undefined })}>root</a>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join('/');
        return (
          <span key={path}>
            /
            <a href={withQuery({ path, file: undefined, search: undefined })}>
              <Marked text={part} />
            </a>
          </span>
        );
      })}
    </nav>
  );
}

function SnapshotPicker({ root, snapshot }: { readonly root: string; readonly snapshot: string | undefined }) {
  const snapshots = useResource<{ snapshots: readonly Snapshot[] }>(`${root}/snapshots`);
  const found = snapshots.value.data?.snapshots ?? [];
  if (found.length === 0) return null;
  return (
    <select
      aria-label="Files at"
      value={snapshot ?? ''}
      onChange={(event) => setQuery({ snapshot: event.currentTarget.value, file: undefined })}
    >
      <option value="">Now</option>
      {found.map(({ name }) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

function SearchField({ search }: { readonly search: string | undefined }) {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <input
      type="search"
      aria-label="Search in files"
      placeholder="Search in files…  /"
      value={search ?? ''}
      onInput={({ currentTarget: { value } }) => {
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setQuery({ search: value }, { replace: true }), 200);
      }}
    />
  );
}

interface FolderProps {
  readonly root: string;
  readonly folder: string;
  readonly snapshot: string | undefined;
  readonly file: string | undefined;
}

function Folder({ root, folder, snapshot, file }: FolderProps) {
  const path = `${root}/files${toSearch({ path: folder, snapshot, limit: 1000 })}`;
  const list = useResource<FileList>(path);
  return (
    <Loaded from={list} rows={10} onRetry={() => invalidate(path)}>
      {({ files, next, cut }) =>
        files.length === 0 ? (
          <Empty>
            <p>This folder is empty.</p>
          </Empty>
        ) : (
          <>
            <ul class="entries" aria-label={folder === '' ? 'Files of the workspace' : `Files of ${folder}`}>
              {[...files].sort(inOrder).map((entry) => (
                <EntryLine key={entry.path} entry={entry} isSelected={entry.path === file} />
              ))}
            </ul>
            {(next !== undefined || cut) && <p class="muted note">Only the first {files.length} entries are shown.</p>}
          </>
        )
      }
    </Loaded>
  );
}

/** Folders first. */
function inOrder(one: FileEntry, other: FileEntry): number {
  return Number(other.isFolder) - Number(one.isFolder) || one.name.localeCompare(other.name);
}

function EntryLine({ entry, isSelected }: { readonly entry: FileEntry; readonly isSelected: boolean }) {
  const { path, name, kind, isFolder, sizeBytes, updatedAt, target } = entry;
  const icon = isFolder ? 'folder' : kind === 'link' ? 'link' : 'file';
  const content = (
    <>
      <Icon name={icon} />
      <span class="entry-name">
        <Marked text={name} />
        {target !== undefined && (
          <span class="muted">
            {' '}
            → <Marked text={target} />
          </span>
        )}
      </span>
      <span class="entry-size">{sizeBytes === undefined ? '' : toSize(sizeBytes)}</span>
      <span class="entry-time">{updatedAt && <Ago at={updatedAt} />}</span>
    </>
  );
  if (kind === 'link' || kind === 'other') return <li class="entry">{content}</li>;
  const href = isFolder ? withQuery({ path, file: undefined }) : withQuery({ file: path });
  return (
    <li>
      <a class="entry" href={href} aria-current={isSelected ? 'true' : undefined}>
        {content}
      </a>
    </li>
  );
}
