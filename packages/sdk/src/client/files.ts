import {
  type CreateFileLink,
  type FileEntry,
  FileEvent,
  FileLink,
  FileList,
  FileRemoved,
  FileRenamed,
  FileWritten,
  WorkspaceSearch,
} from '@croft/protocol';
import type { z } from 'zod';
import { readEvents } from './file-events.ts';
import { path, type Request, type Send } from './request.ts';

export interface ListFilesOptions {
  /** A folder, relative to the root. Default: the root. */
  readonly path?: string | undefined;
  /** As the folder was in this snapshot; without `recursive` and `etags`. */
  readonly snapshot?: string | undefined;
  readonly recursive?: boolean | undefined;
  /** Adds the ETag of each file of up to 1 MiB. */
  readonly etags?: boolean | undefined;
  /** 1 to 1000. Default: 200. */
  readonly limit?: number | undefined;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

export interface SearchOptions {
  /** A regular expression of ripgrep. */
  readonly pattern: string;
  /** `pattern` is a plain text. */
  readonly literal?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** A folder, from the root. */
  readonly path?: string | undefined;
  /** Only files of this pattern: `*.ts`. */
  readonly glob?: string | undefined;
  /** 1 to 500; 100 unless said. */
  readonly limit?: number | undefined;
}

export interface DownloadOptions {
  /** As it was in this snapshot. */
  readonly snapshot?: string | undefined;
  /** Bytes from `start` up to but not including `end`. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /** An ETag: an unchanged file is not sent again, and `body` is empty. */
  readonly ifNoneMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UploadOptions {
  /** The last known ETag. The write is refused if the file has another. */
  readonly ifMatch?: string | undefined;
  /** The write is refused if the file exists. */
  readonly isNew?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type UploadBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;
export type LinkOptions = Omit<z.input<typeof CreateFileLink>, 'path'>;

/** The files of one workspace. */
export function createFiles(request: Request, send: Send, workspaceId: string) {
  const root = path`/v1/workspaces/${workspaceId}`;
  const list = (options: ListFilesOptions = {}) =>
    request('GET', `${root}/files`, { answer: FileList, query: toListQuery(options) });

  return {
    list,
    /** Lists every file, and reads pages as they are needed. */
    async *all(options: Omit<ListFilesOptions, 'cursor'> = {}): AsyncGenerator<FileEntry> {
      let cursor: string | undefined;
      do {
        const page = await list({ limit: 1000, ...options, cursor });
        yield* page.files;
        cursor = page.next;
      } while (cursor !== undefined);
    },
    async download(file: string, { range, ifNoneMatch, signal, snapshot }: DownloadOptions = {}) {
      const headers = { range: toRange(range), 'if-none-match': ifNoneMatch };
      const response = await send('GET', `${root}/file`, { query: { path: file, snapshot }, headers, signal });
      return {
        etag: response.headers.get('etag') ?? '',
        isSame: response.status === 304,
        /** A stream: the server sends no more than is read. */
        body: response.body ?? new Blob([]).stream(),
      };
    },
    async upload(file: string, body: UploadBody, { ifMatch, isNew, signal }: UploadOptions = {}) {
      const headers = { 'if-match': ifMatch, 'if-none-match': isNew ? '*' : undefined };
      const response = await send('PUT', `${root}/file`, { query: { path: file }, body, headers, signal });
      return FileWritten.parse(await response.json());
    },
    rename: (from: string, to: string) =>
      request('POST', `${root}/files/rename`, { answer: FileRenamed, body: { from, to } }),
    /** Returns the number of removed entries. */
    remove: async (file: string, { recursive = false } = {}): Promise<number> =>
      (await request('DELETE', `${root}/files`, { answer: FileRemoved, body: { path: file, recursive } })).deleted,
    /** Searches the contents of files, without those that git ignores. */
    search: (query: SearchOptions) =>
      request('GET', `${root}/search`, { answer: WorkspaceSearch, query: toSearchQuery(query) }),
    /** A zip of the workspace or of a folder of it. */
    async zip(options: { path?: string; include?: readonly ('.git' | 'node_modules')[]; signal?: AbortSignal } = {}) {
      const query = { path: options.path, include: options.include?.join(',') || undefined };
      const { body } = await send('GET', `${root}/download`, { query, signal: options.signal });
      return body ?? new Blob([]).stream();
    },
    /** Makes an address to download or upload this one file without a key. */
    link: (file: string, options: LinkOptions = {}) =>
      request('POST', `${root}/links`, { answer: FileLink, body: { ...options, path: file } }),
    /** Changes from now on, until the signal aborts. After a `reset` events may be missing. */
    events: (options: { signal?: AbortSignal; lastId?: string } = {}): AsyncGenerator<FileEvent & { id?: string }> =>
      readEvents(send, `${root}/events`, FileEvent, options),
  };
}

function toSearchQuery({ literal, ignoreCase, ...rest }: SearchOptions) {
  return { ...rest, literal: literal ? 'true' : undefined, ignoreCase: ignoreCase ? 'true' : undefined };
}

function toListQuery({ recursive, etags, ...rest }: ListFilesOptions) {
  return { ...rest, recursive: recursive ? 'true' : undefined, etags: etags ? 'true' : undefined };
}

function toRange(range: DownloadOptions['range']): string | undefined {
  if (range === undefined) return undefined;
  return `bytes=${range.start}-${range.end === undefined ? '' : range.end - 1}`;
}
