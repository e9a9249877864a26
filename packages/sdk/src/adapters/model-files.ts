import type { FileEntry } from '@croft/protocol';
import type { Box } from '../box/box.ts';
import type { CallOptions } from '../box/tool-caller.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface FileStatus {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly updatedAt: string | undefined;
}

/**
 * Files of a box in the hands of a model. It reads them as they are. It changes them by the tools of its agent, so that
 * the permission mode, approvals and the audit trail hold as for every call of an agent. Paths are from the root.
 */
export function createModelFiles(box: Box) {
  const { files, workspaceId } = box;
  return {
    read: (path: string, options?: CallOptions) => orUndefined(files.readBytes(path, options)),
    open: (path: string, options?: CallOptions) => orUndefined(files.download(path, options)),

    async write(path: string, content: string | Uint8Array, options?: CallOptions): Promise<void> {
      const text = typeof content === 'string' ? content : decodeText(content);
      if (text === undefined) return writeBytes(box, path, content as Uint8Array, options);
      await callAfterRead(box, 'write', { file_path: path, content: text }, options);
    },

    edit: (path: string, change: { readonly find: string; readonly replace: string; readonly all: boolean }) =>
      callAfterRead(box, 'edit', {
        file_path: path,
        ...{ old_string: change.find, new_string: change.replace, replace_all: change.all },
      }),

    /** Returns whether there was something to delete. */
    async remove(path: string, { recursive = false, signal }: CallOptions & { recursive?: boolean } = {}) {
      const removed = await orUndefined(box.call('delete', { file_path: path, recursive }, { signal }));
      return removed !== undefined;
    },

    /** Returns the status of a path; `undefined` if it does not exist. A link counts as its target. */
    async stat(path: string): Promise<FileStatus | undefined> {
      const page = await orUndefined(box.client.files(workspaceId).list({ path, limit: 1 }));
      if (!page) return undefined;
      const [first] = page.files;
      return first?.path === path && path !== ''
        ? toStatus(first)
        : { kind: 'directory', size: 0, updatedAt: undefined };
    },

    /** Lists a directory; `undefined` if it does not exist. Throws for a file. */
    async list(path: string, options: { readonly recursive?: boolean } = {}): Promise<FileEntry[] | undefined> {
      const entries = await orUndefined(files.list(path, options));
      if (path !== '' && entries?.length === 1 && entries[0]?.path === path)
        throw new CroftError('E_NOT_A_DIRECTORY', `${path} is not a directory`);
      return entries;
    },
  };
}

export type ModelFiles = ReturnType<typeof createModelFiles>;

function toStatus({ kind, isFolder, sizeBytes = 0, updatedAt }: FileEntry): FileStatus {
  if (isFolder) return { kind: 'directory', size: 0, updatedAt };
  return { kind: kind === 'other' ? 'other' : 'file', size: sizeBytes, updatedAt };
}

const missing: ReadonlySet<string> = new Set(['E_FILE_NOT_FOUND', 'E_NOT_A_DIRECTORY']);

/** `undefined` for a file that does not exist. */
async function orUndefined<Value>(found: Promise<Value>): Promise<Value | undefined> {
  return found.catch((thrown) => {
    if (CroftError.is(thrown) && missing.has(thrown.code)) return undefined;
    throw thrown;
  });
}

const unread: ReadonlySet<string> = new Set(['E_NOT_READ', 'E_STALE']);

/** The agent changes only files that its session has read. A framework that overwrites a file has no such rule. */
async function callAfterRead(
  box: Box,
  tool: 'write' | 'edit',
  input: { readonly file_path: string } & Record<string, unknown>,
  options: CallOptions = {},
) {
  const call = () => box.call(tool, input, options);
  return call().catch(async (thrown) => {
    if (!(CroftError.is(thrown) && unread.has(thrown.code))) throw thrown;
    await box.call('read', { file_path: input.file_path }, options);
    return call();
  });
}

export function mustExist<Value>(path: string, found: Value | undefined): Value {
  if (found === undefined) throw new CroftError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`);
  return found;
}

/** `undefined` for bytes that are no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The tools of agents write text. Nobody can be asked about bytes, so they are for agents that need not ask. */
async function writeBytes(box: Box, path: string, bytes: Uint8Array, options?: CallOptions): Promise<void> {
  const { workspaces } = await box.fence();
  const fence = workspaces.find(({ workspaceId }) => workspaceId === box.workspaceId);
  if (fence?.write.verdict === 'runs') {
    await box.files.write(path, new Uint8Array(bytes), options);
    return;
  }
  if (fence?.write.verdict !== 'asks') throw new CroftError('E_READ_ONLY', `the agent may not change ${box.name}`);
  throw new CroftError('E_INVALID_INPUT', `${path} is not text in UTF-8, and a person has to agree to each change`, {
    hint: 'Write text, or let a command make the file: a person can read that and agree to it.',
  });
}
