import { applyDiff } from '@openai/agents';
import { Manifest } from '@openai/agents/sandbox';
import type { Box } from '../../box/box.ts';
import { CroftError } from '../../errors/croft-error.ts';
import { createModelFiles, type ModelFiles, mustExist } from '../model-files.ts';
import { toErrorOutput, toExitCode } from '../shell-command.ts';
import { createWorkspacePaths, type WorkspacePaths } from '../workspace-paths.ts';

interface CommandArguments {
  readonly cmd: string;
  readonly workdir?: string | undefined;
  readonly shell?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
}
interface PathArguments {
  readonly path: string;
}
interface PatchOperation extends PathArguments {
  readonly diff: string;
  readonly moveTo?: string | undefined;
}

/** A running session for `run(agent, input, { sandbox: { session } })` of the OpenAI Agents SDK, whose sandboxes are beta. */
export interface OpenAiSandbox {
  readonly state: { manifest: Manifest; workspaceReady: true };
  exec(command: CommandArguments): Promise<{
    output: string;
    stdout: string;
    stderr: string;
    wallTimeSeconds: number;
    exitCode: number;
  }>;
  execCommand(command: CommandArguments): Promise<string>;
  readFile(file: PathArguments & { readonly maxBytes?: number | undefined }): Promise<Uint8Array<ArrayBuffer>>;
  listDir(directory: PathArguments): Promise<{ name: string; path: string; type: 'file' | 'dir' | 'other' }[]>;
  pathExists(path: string): Promise<boolean>;
  viewImage(
    file: PathArguments,
  ): Promise<{ type: 'image'; image: { data: Uint8Array<ArrayBuffer>; mediaType: string } }>;
  createEditor(): {
    createFile(operation: PatchOperation): Promise<void>;
    updateFile(operation: PatchOperation): Promise<void>;
    deleteFile(operation: PathArguments): Promise<void>;
  };
}

/** The sandbox of a box for a `SandboxAgent`. Its commands and changes are calls of the agent of the box. */
export async function openaiSandbox(box: Box): Promise<OpenAiSandbox> {
  const parts = { box, files: createModelFiles(box), paths: createWorkspacePaths(box, { isRoot: false }) };
  const root = await box.root();
  return {
    state: { manifest: new Manifest({ root }), workspaceReady: true },
    ...toCommands(parts),
    ...toFiles(parts),
    createEditor: () => toEditor(parts),
  };
}

interface Parts {
  readonly box: Box;
  readonly files: ModelFiles;
  readonly paths: WorkspacePaths;
}

function toCommands({ box, paths }: Parts): Pick<OpenAiSandbox, 'exec' | 'execCommand'> {
  const exec: OpenAiSandbox['exec'] = async ({ cmd, workdir, shell = 'bash' }) => {
    const startedAt = performance.now();
    const result = await box.exec([shell, '-c', cmd], {
      cwd: workdir === undefined ? undefined : await paths.toDirectory(workdir),
    });
    const { stdout } = result;
    const stderr = toErrorOutput(result);
    const wallTimeSeconds = (performance.now() - startedAt) / 1000;
    return { output: `${stdout}${stderr}`, stdout, stderr, wallTimeSeconds, exitCode: toExitCode(result) };
  };
  return {
    exec,
    async execCommand(command) {
      const { output, wallTimeSeconds, exitCode } = await exec(command);
      const kept = keepEnds(output, (command.maxOutputTokens ?? 10_000) * 4);
      return `Wall time: ${wallTimeSeconds.toFixed(4)} seconds\nProcess exited with code ${exitCode}\nOutput:\n${kept}`;
    },
  };
}

function keepEnds(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.floor(maxChars / 2);
  return `${text.slice(0, half)}\n… ${text.length - 2 * half} characters left out …\n${text.slice(text.length - half)}`;
}

function toFiles({ files, paths }: Parts): Pick<OpenAiSandbox, 'readFile' | 'listDir' | 'pathExists' | 'viewImage'> {
  const read = async (path: string) => mustExist(path, await files.read(await paths.toRelative(path)));
  return {
    readFile: async ({ path, maxBytes }) => (await read(path)).subarray(0, maxBytes),
    async listDir({ path }) {
      const entries = mustExist(path, await files.list(await paths.toRelative(path)));
      const row = async (entry: (typeof entries)[number]) => ({
        name: entry.name,
        path: await paths.toAbsolute(entry.path),
        type: entry.isFolder ? ('dir' as const) : entry.kind === 'file' ? ('file' as const) : ('other' as const),
      });
      return Promise.all(entries.map(row));
    },
    pathExists: async (path) => (await files.stat(await paths.toRelative(path))) !== undefined,
    async viewImage({ path }) {
      const data = await read(path);
      const mediaType = imageTypeOf(data);
      if (mediaType === undefined)
        throw new CroftError('E_INVALID_INPUT', `${path} is not an image: PNG, JPEG, GIF, WebP`);
      return { type: 'image', image: { data, mediaType } };
    },
  };
}

function toEditor({ files, paths }: Parts): ReturnType<OpenAiSandbox['createEditor']> {
  return {
    async createFile({ path, diff }) {
      const target = await paths.toRelative(path);
      if (await files.stat(target)) throw new CroftError('E_ALREADY_EXISTS', `${path} exists`);
      await files.write(target, applyDiff('', diff, 'create'));
    },
    async updateFile({ path, diff, moveTo }) {
      const source = await paths.toRelative(path);
      const before = new TextDecoder('utf-8', { fatal: true }).decode(mustExist(path, await files.read(source)));
      const after = applyDiff(before, diff);
      if (moveTo === undefined) return files.write(source, after);
      await files.write(await paths.toRelative(moveTo), after);
      await files.remove(source);
    },
    async deleteFile({ path }) {
      if (!(await files.remove(await paths.toRelative(path)))) mustExist(path, undefined);
    },
  };
}

const imageTypes: readonly (readonly [type: string, begins: RegExp])[] = [
  ['image/png', /^\x89PNG/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];

function imageTypeOf(bytes: Uint8Array): string | undefined {
  const begin = String.fromCharCode(...bytes.subarray(0, 12));
  return imageTypes.find(([, begins]) => begins.test(begin))?.[0];
}
