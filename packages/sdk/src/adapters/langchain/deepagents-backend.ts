import type { FileEntry } from '@croft/protocol';
import { z } from 'zod';
import type { Box } from '../../box/box.ts';
import { CroftError } from '../../errors/croft-error.ts';
import { createModelFiles, decodeText, type ModelFiles, mustExist } from '../model-files.ts';
import { toErrorOutput, toExitCode } from '../shell-command.ts';
import { createWorkspacePaths, type WorkspacePaths } from '../workspace-paths.ts';

interface Failed {
  error: string;
}
interface FileInfo {
  path: string;
  is_dir: boolean;
  size: number;
  modified_at?: string;
}
interface ReadText {
  content: string | Uint8Array;
  mimeType: string;
  totalLines?: number;
  startLine?: number;
  endLine?: number;
}
type FileFailure = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path';

/** `SandboxBackendProtocolV2` of deepagents. */
export interface DeepAgentsBackend {
  readonly id: string;
  execute(command: string): Promise<{ output: string; exitCode: number; truncated: boolean }>;
  ls(path: string): Promise<{ files: FileInfo[] } | Failed>;
  read(path: string, offset?: number, limit?: number): Promise<ReadText | Failed>;
  readRaw(
    path: string,
  ): Promise<
    { data: { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string } } | Failed
  >;
  write(path: string, content: string): Promise<{ path: string; filesUpdate: null } | Failed>;
  edit(
    path: string,
    find: string,
    replace: string,
    all?: boolean,
  ): Promise<{ path: string; filesUpdate: null; occurrences: number } | Failed>;
  delete(path: string): Promise<{ path: string; filesUpdate: null } | Failed>;
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<{ matches: { path: string; line: number; text: string }[]; truncated: boolean } | Failed>;
  glob(pattern: string, path?: string): Promise<{ files: FileInfo[]; truncated: boolean } | Failed>;
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: FileFailure | null }[]>;
  downloadFiles(paths: string[]): Promise<{ path: string; content: Uint8Array | null; error: FileFailure | null }[]>;
}

/** The sandbox of a box for `createDeepAgent({ backend })`. Its commands and changes are calls of the agent of the box. */
export function deepagentsBackend(box: Box): DeepAgentsBackend {
  const parts = { box, files: createModelFiles(box), paths: createWorkspacePaths(box, { isRoot: true }) };
  return {
    id: box.workspaceId,
    async execute(command) {
      const result = await box.exec(command);
      const output = `${result.stdout}${toErrorOutput(result)}`;
      return { output, exitCode: toExitCode(result), truncated: result.truncated };
    },
    ...toReads(parts),
    ...toChanges(parts),
    ...toSearches(parts),
    ...toTransfers(parts),
  };
}

interface Parts {
  readonly box: Box;
  readonly files: ModelFiles;
  readonly paths: WorkspacePaths;
}

function toReads({ files, paths }: Parts): Pick<DeepAgentsBackend, 'ls' | 'read' | 'readRaw'> {
  const load = async (path: string) => mustExist(path, await files.read(await paths.toRelative(path)));
  return {
    ls: (path) =>
      orFailure(async () => {
        const entries = mustExist(path, await files.list(await paths.toRelative(path)));
        return { files: await Promise.all(entries.map((entry) => toInfo(paths, entry))) };
      }),
    read: (path, offset = 0, limit = 500) =>
      orFailure(async () => {
        const bytes = await load(path);
        const text = decodeText(bytes);
        if (text === undefined) return { content: bytes, mimeType: 'application/octet-stream' };
        return { ...cutLines(text, offset, limit), mimeType: 'text/plain' };
      }),
    readRaw: (path) =>
      orFailure(async () => {
        const bytes = await load(path);
        const text = decodeText(bytes);
        const { updatedAt = new Date(0).toISOString() } = mustExist(
          path,
          await files.stat(await paths.toRelative(path)),
        );
        const mimeType = text === undefined ? 'application/octet-stream' : 'text/plain';
        return { data: { content: text ?? bytes, mimeType, created_at: updatedAt, modified_at: updatedAt } };
      }),
  };
}

function cutLines(text: string, offset: number, limit: number) {
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = lines.slice(offset, offset + limit);
  const totalLines = text === '' ? 0 : lines.length;
  return { content: shown.join('\n'), totalLines, startLine: offset + 1, endLine: offset + shown.length };
}

const Replaced = z.object({ replaced: z.int() });

function toChanges({ files, paths }: Parts): Pick<DeepAgentsBackend, 'write' | 'edit' | 'delete'> {
  return {
    write: (path, content) =>
      orFailure(async () => {
        await files.write(await paths.toRelative(path), content);
        return { path, filesUpdate: null };
      }),
    edit: (path, find, replace, all = false) =>
      orFailure(async () => {
        const answer = await files.edit(await paths.toRelative(path), { find, replace, all });
        return { path, filesUpdate: null, occurrences: Replaced.parse(answer).replaced };
      }),
    delete: (path) =>
      orFailure(async () => {
        if (!(await files.remove(await paths.toRelative(path), { recursive: true }))) mustExist(path, undefined);
        return { path, filesUpdate: null };
      }),
  };
}

const mostMatches = 500;

function toSearches({ box, files, paths }: Parts): Pick<DeepAgentsBackend, 'grep' | 'glob'> {
  return {
    grep: (pattern, path, glob, maxCount) =>
      orFailure(async () => {
        const limit = Math.min(maxCount ?? mostMatches, mostMatches);
        const found = await box.files.grep(pattern, {
          ...{ literal: true, limit, path: await paths.toRelative(path ?? '') },
          ...(glob !== null && glob !== undefined && { glob }),
        });
        const matches = found.map(async (match) => ({ ...match, path: await paths.toAbsolute(match.path) }));
        return { matches: await Promise.all(matches), truncated: found.length === limit };
      }),
    glob: (pattern, path = '') =>
      orFailure(async () => {
        const found = await box.files.glob(pattern.replace(/^\/+/, ''), { path: await paths.toRelative(path) });
        const shown = found.slice(0, mostMatches);
        const rows = shown.map(async (name) => {
          const { size = 0, updatedAt } = (await files.stat(name)) ?? {};
          const times = updatedAt === undefined ? {} : { modified_at: updatedAt };
          return { path: await paths.toAbsolute(name), is_dir: false, size, ...times };
        });
        return { files: await Promise.all(rows), truncated: found.length > shown.length };
      }),
  };
}

function toTransfers({ files, paths }: Parts): Pick<DeepAgentsBackend, 'uploadFiles' | 'downloadFiles'> {
  return {
    uploadFiles: (given) =>
      Promise.all(
        given.map(async ([path, content]) => {
          const upload = async () => files.write(await paths.toRelative(path), content);
          return { path, error: await upload().then(() => null, toFileFailure) };
        }),
      ),
    downloadFiles: (given) =>
      Promise.all(
        given.map(async (path) => {
          const download = async () => mustExist(path, await files.read(await paths.toRelative(path)));
          return download().then(
            (content) => ({ path, content, error: null }),
            (thrown) => ({ path, content: null, error: toFileFailure(thrown) }),
          );
        }),
      ),
  };
}

async function toInfo(
  paths: WorkspacePaths,
  { path, isFolder, sizeBytes = 0, updatedAt }: FileEntry,
): Promise<FileInfo> {
  const times = updatedAt === undefined ? {} : { modified_at: updatedAt };
  return { path: await paths.toAbsolute(path), is_dir: isFolder, size: sizeBytes, ...times };
}

/** A failure is an answer here: deepagents shows it to the model. */
async function orFailure<Value>(work: () => Promise<Value>): Promise<Value | Failed> {
  return work().catch((thrown) => {
    if (CroftError.is(thrown)) return { error: `${thrown.code}: ${thrown.text}` };
    throw thrown;
  });
}

const fileFailures: Readonly<Record<string, FileFailure>> = {
  E_FILE_NOT_FOUND: 'file_not_found',
  E_NOT_A_FILE: 'is_directory',
  E_INVALID_PATH: 'invalid_path',
};

function toFileFailure(thrown: unknown): FileFailure {
  if (!CroftError.is(thrown)) throw thrown;
  return fileFailures[thrown.code] ?? 'permission_denied';
}
