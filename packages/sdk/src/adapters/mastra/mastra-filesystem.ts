import { Buffer } from 'node:buffer';
import type { FileEntry } from '@croft/protocol';
import {
  DirectoryNotFoundError,
  FileExistsError,
  FileNotFoundError,
  IsDirectoryError,
  StaleFileError,
} from '@mastra/core/workspace';
import type { Box } from '../../box/box.ts';
import { createModelFiles, type ModelFiles } from '../model-files.ts';
import { createWorkspacePaths } from '../workspace-paths.ts';
import { toMastraError } from './mastra-errors.ts';

type Content = string | Uint8Array;

interface WriteOptions {
  readonly overwrite?: boolean | undefined;
  readonly expectedMtime?: Date | undefined;
}
interface RemoveOptions {
  readonly recursive?: boolean | undefined;
  readonly force?: boolean | undefined;
}
interface CopyOptions {
  readonly overwrite?: boolean | undefined;
}
interface Entry {
  name: string;
  type: 'file' | 'directory';
  size?: number;
  isSymlink?: boolean;
  symlinkTarget?: string;
}
interface Status {
  name: string;
  path: string;
  type: 'file' | 'directory';
  size: number;
  createdAt: Date;
  modifiedAt: Date;
}

/** `WorkspaceFilesystem` of Mastra. `/` is the root of the workspace. */
export interface MastraFilesystem {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  status: 'ready';
  getInstructions(): string;
  readFile(path: string, options?: { readonly encoding?: BufferEncoding | undefined }): Promise<string | Buffer>;
  writeFile(path: string, content: Content, options?: WriteOptions): Promise<void>;
  appendFile(path: string, content: Content): Promise<void>;
  deleteFile(path: string, options?: RemoveOptions): Promise<void>;
  copyFile(from: string, to: string, options?: CopyOptions): Promise<void>;
  moveFile(from: string, to: string, options?: CopyOptions): Promise<void>;
  mkdir(path: string, options?: { readonly recursive?: boolean | undefined }): Promise<void>;
  rmdir(path: string, options?: RemoveOptions): Promise<void>;
  readdir(
    path: string,
    options?: { readonly recursive?: boolean | undefined; readonly extension?: string | string[] | undefined },
  ): Promise<Entry[]>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<Status>;
}

/** The files of a box for `new Workspace({ filesystem })` of Mastra. Its changes are calls of the agent of the box. */
export function mastraFilesystem(box: Box): MastraFilesystem {
  const files = createModelFiles(box);
  const { toRelative } = createWorkspacePaths(box, { isRoot: true });
  const parts: Parts = {
    box,
    files,
    at: async (path, work) =>
      work(await toRelative(path)).catch((thrown) => Promise.reject(toMastraError(thrown, path))),
  };
  return {
    ...{ id: box.workspaceId, name: box.name, provider: 'croft', status: 'ready' },
    getInstructions: () => 'Paths are from the root of the workspace, where commands start too.',
    ...toReads(parts),
    ...toWrites(parts),
    ...toDirectories(parts),
  };
}

interface Parts {
  readonly box: Box;
  readonly files: ModelFiles;
  /** Runs with the path from the root, and throws the errors of Mastra. */
  at<Value>(path: string, work: (relative: string) => Promise<Value>): Promise<Value>;
}

function toReads({ files, at }: Parts): Pick<MastraFilesystem, 'readFile' | 'exists' | 'stat'> {
  return {
    readFile: (path, { encoding } = {}) =>
      at(path, async (relative) => {
        const bytes = await files.read(relative);
        if (!bytes) throw new FileNotFoundError(path);
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        return encoding === undefined ? buffer : buffer.toString(encoding);
      }),
    exists: (path) => at(path, async (relative) => (await files.stat(relative)) !== undefined),
    stat: (path) =>
      at(path, async (relative) => {
        const found = await files.stat(relative);
        if (!found) throw new FileNotFoundError(path);
        const modifiedAt = new Date(found.updatedAt ?? 0);
        const type = found.kind === 'directory' ? 'directory' : 'file';
        const name = relative.split('/').at(-1) ?? '';
        return { name, path, type, size: found.size, createdAt: modifiedAt, modifiedAt };
      }),
  };
}

type Writes = 'writeFile' | 'appendFile' | 'deleteFile' | 'copyFile' | 'moveFile';

function toWrites({ box, files, at }: Parts): Pick<MastraFilesystem, Writes> {
  const read = async (path: string, relative: string) => {
    const bytes = await files.read(relative);
    if (!bytes) throw new FileNotFoundError(path);
    return bytes;
  };
  const mustFit = async (path: string, relative: string, { overwrite = true, expectedMtime }: WriteOptions) => {
    const found = await files.stat(relative);
    if (!found) return;
    if (!overwrite) throw new FileExistsError(path);
    const modifiedAt = new Date(found.updatedAt ?? 0);
    if (expectedMtime && modifiedAt.getTime() !== expectedMtime.getTime())
      throw new StaleFileError(path, expectedMtime, modifiedAt);
  };
  return {
    writeFile: (path, content, options = {}) =>
      at(path, async (relative) => {
        if (options.overwrite === false || options.expectedMtime) await mustFit(path, relative, options);
        await files.write(relative, content);
      }),
    appendFile: (path, content) =>
      at(path, async (relative) => {
        const before = (await files.read(relative)) ?? new Uint8Array();
        await files.write(relative, Buffer.concat([before, Buffer.from(content)]));
      }),
    deleteFile: (path, { force = false } = {}) =>
      at(path, async (relative) => {
        if ((await files.stat(relative))?.kind === 'directory') throw new IsDirectoryError(path);
        if (!(await files.remove(relative)) && !force) throw new FileNotFoundError(path);
      }),
    copyFile: (from, to, options = {}) =>
      at(from, async (source) => {
        const bytes = await read(from, source);
        await at(to, async (target) => {
          await mustFit(to, target, { overwrite: options.overwrite });
          await files.write(target, bytes);
        });
      }),
    moveFile: (from, to, options = {}) =>
      at(from, async (source) => {
        if (!(await files.stat(source))) throw new FileNotFoundError(from);
        await at(to, async (target) => {
          await mustFit(to, target, { overwrite: options.overwrite });
          if (await files.stat(target)) await files.remove(target);
          await box.call('move', { from: source, to: target });
        });
      }),
  };
}

function toDirectories({ box, files, at }: Parts): Pick<MastraFilesystem, 'mkdir' | 'rmdir' | 'readdir'> {
  return {
    mkdir: (path, { recursive = true } = {}) =>
      at(path, async (relative) => {
        const found = await files.stat(relative);
        if (found?.kind === 'file') throw new FileExistsError(path);
        // Agents have no tool for empty directories.
        const cwd = await box.root();
        if (!found) await box.exec(['mkdir', ...(recursive ? ['-p'] : []), '--', relative], { check: true, cwd });
      }),
    rmdir: (path, { recursive = false, force = false } = {}) =>
      at(path, async (relative) => {
        if (!(await files.remove(relative, { recursive })) && !force) throw new DirectoryNotFoundError(path);
      }),
    readdir: (path, { recursive = false, extension } = {}) =>
      at(path, async (relative) => {
        const entries = await files.list(relative, { recursive });
        if (!entries) throw new DirectoryNotFoundError(path);
        const endings = extension === undefined ? undefined : [extension].flat();
        return entries
          .filter(({ name, isFolder }) => isFolder || (endings?.some((ending) => name.endsWith(ending)) ?? true))
          .map((entry) => toEntry(entry, relative));
      }),
  };
}

/** The name of an entry further down is its path from the directory that was listed. */
function toEntry({ path, kind, isFolder, sizeBytes, target }: FileEntry, directory: string): Entry {
  return {
    name: directory === '' ? path : path.slice(directory.length + 1),
    type: isFolder ? 'directory' : 'file',
    ...(sizeBytes !== undefined && { size: sizeBytes }),
    ...(kind === 'link' && { isSymlink: true, ...(target !== undefined && { symlinkTarget: target }) }),
  };
}
