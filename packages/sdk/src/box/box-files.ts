import type { FileEntry, FileEvent, FileWritten } from '@croft/protocol';
import { z } from 'zod';
import type { Client } from '../client/create-client.ts';
import type { SearchOptions, UploadBody } from '../client/files.ts';
import { CroftError } from '../errors/croft-error.ts';
import { replaceText } from './replace-text.ts';
import type { CallOptions, ToolCaller } from './tool-caller.ts';

export interface ReadOptions extends CallOptions {
  /** Reads the file as it was in this snapshot. */
  readonly snapshot?: string | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The last known ETag. The write is refused if the file has another. */
  readonly ifMatch?: string | undefined;
  /** The write is refused if the file exists. */
  readonly isNew?: boolean | undefined;
}

export interface EditOptions extends CallOptions {
  /** Replace every occurrence. Without it, a text that occurs twice is refused. */
  readonly all?: boolean | undefined;
}

export type BoxFiles = ReturnType<typeof createBoxFiles>;

const Found = z.object({ paths: z.array(z.string()), total: z.int(), truncated: z.boolean() });
const mostPaths = 10_000;

/**
 * Reads and writes the files of a box for the program itself, not for a model: no approval is needed, and every change
 * is in the history and in the audit trail.
 */
export function createBoxFiles(client: Client, caller: ToolCaller, workspaceId: string) {
  const files = client.files(workspaceId);
  const download = async (path: string, options: ReadOptions = {}) => (await files.download(path, options)).body;
  const upload = (path: string, body: UploadBody, options: WriteOptions = {}): Promise<FileWritten> =>
    files.upload(path, body, options);

  return {
    /** A stream: the server sends no more than is read. */
    download,
    upload,
    read: async (path: string, options?: ReadOptions): Promise<string> =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(
        await new Response(await download(path, options)).arrayBuffer(),
      ),
    readBytes: async (path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>> =>
      new Uint8Array(await new Response(await download(path, options)).arrayBuffer()),
    /** Writes the file whole or not at all, with the folders that it needs. */
    write: upload,

    /** Replaces a text. A change that somebody else makes at the same time is not lost. */
    async edit(path: string, find: string, replace: string, { all = false, signal }: EditOptions = {}) {
      const { etag, body } = await files.download(path, { signal });
      const before = decode(path, await new Response(body).arrayBuffer());
      const { text, count } = replaceText(path, before, { find, replace, all });
      await upload(path, text, { ifMatch: etag, signal });
      return { replaced: count };
    },

    /** The entries of a folder, or with `recursive` everything below it. */
    list: (path = '', { recursive = false } = {}): Promise<FileEntry[]> =>
      Array.fromAsync(files.all({ path, recursive })),
    /** Files by pattern, such as `*.ts`, the newest first. Without what git ignores. */
    glob: async (pattern: string, { path = '', signal }: CallOptions & { readonly path?: string } = {}) =>
      (await caller.call('glob', { pattern, path, limit: mostPaths }, Found, { signal })).paths,
    /** Lines by a regular expression. Without what git ignores. */
    grep: async (pattern: string, options: Omit<SearchOptions, 'pattern'> = {}) =>
      (await files.search({ ...options, pattern })).matches,
    exists: async (path: string): Promise<boolean> =>
      files.list({ path, limit: 1 }).then(
        () => true,
        (thrown) => {
          if (CroftError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return false;
          throw thrown;
        },
      ),
    /** Renames a file or a folder to a name that is free. */
    move: async (from: string, to: string): Promise<void> => {
      await files.rename(from, to);
    },
    delete: async (path: string, options: { readonly recursive?: boolean } = {}): Promise<void> => {
      await files.remove(path, options);
    },
    /** Changes from now on, until the signal aborts. After a `reset` events may be missing. */
    watch: (options: { signal?: AbortSignal } = {}): AsyncGenerator<FileEvent & { id?: string }> =>
      files.events(options),
  };
}

/** An edit of bytes that are no text would change them. */
function decode(path: string, bytes: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CroftError('E_INVALID_INPUT', `${path} is not text in UTF-8: write it whole`);
  }
}
