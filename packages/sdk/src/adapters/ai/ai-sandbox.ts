import type { Box } from '../../box/box.ts';
import { CroftError } from '../../errors/croft-error.ts';
import { createModelFiles, type ModelFiles } from '../model-files.ts';
import { toModelError } from '../model-tools.ts';
import { toCommandLine, toErrorOutput, toExitCode } from '../shell-command.ts';
import { createWorkspacePaths, type WorkspacePaths } from '../workspace-paths.ts';
import { collectBytes } from './collect-bytes.ts';
import { type AiProcess, spawnAiProcess } from './spawn-command.ts';

interface Abortable {
  readonly abortSignal?: AbortSignal | undefined;
}
interface PathOptions extends Abortable {
  readonly path: string;
}
interface WriteOptions<Content> extends PathOptions {
  readonly content: Content;
}
interface CommandOptions extends Abortable {
  readonly command: string;
  readonly workingDirectory?: string | undefined;
  readonly env?: Record<string, string> | undefined;
}

/** `Experimental_SandboxSession` of AI SDK 7. */
export interface AiSandbox {
  readonly description: string;
  readonly readFile: (options: PathOptions) => Promise<ReadableStream<Uint8Array> | null>;
  readonly readBinaryFile: (options: PathOptions) => Promise<Uint8Array | null>;
  readonly readTextFile: (
    options: PathOptions & {
      readonly encoding?: string | undefined;
      readonly startLine?: number | undefined;
      readonly endLine?: number | undefined;
    },
  ) => Promise<string | null>;
  readonly writeFile: (options: WriteOptions<ReadableStream<Uint8Array>>) => Promise<void>;
  readonly writeBinaryFile: (options: WriteOptions<Uint8Array>) => Promise<void>;
  readonly writeTextFile: (options: WriteOptions<string> & { readonly encoding?: string | undefined }) => Promise<void>;
  readonly stat: (options: PathOptions) => Promise<{ type: 'file' | 'directory' | 'other'; size: number } | null>;
  readonly listDirectory: (
    options: PathOptions,
  ) => Promise<{ name: string; type: 'file' | 'directory' | 'symlink' | 'other' }[] | null>;
  readonly deleteFile: (options: PathOptions) => Promise<boolean>;
  /** Standard output has both streams, in the order in which they were printed. A command cannot be written to. */
  readonly spawn: {
    (options: CommandOptions & { readonly stdin: true }): Promise<AiProcess & { readonly stdin: WritableStream }>;
    (options: CommandOptions & { readonly stdin?: boolean | undefined }): Promise<AiProcess>;
  };
  readonly run: (options: CommandOptions) => Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

const description =
  'A Croft sandbox. Commands start in the workspace, and relative paths start there. File operations reach the workspace; ' +
  'commands see the rest of the sandbox too. A command ends after 280 seconds unless it is spawned.';

/** The sandbox of a box for `experimental_sandbox`. Its commands and changes are calls of the agent of the box. */
export function aiSandbox(box: Box): AiSandbox {
  const parts = { box, files: createModelFiles(box), paths: createWorkspacePaths(box, { isRoot: false }) };
  return { description, ...toFiles(parts), ...toCommands(parts) };
}

interface Parts {
  readonly box: Box;
  readonly files: ModelFiles;
  readonly paths: WorkspacePaths;
}

type Files = Omit<AiSandbox, 'description' | 'spawn' | 'run'>;

function toFiles({ files, paths }: Parts): Files {
  const read = ({ path, abortSignal }: PathOptions) =>
    forModel(
      abortSignal,
      async () => (await files.read(await paths.toRelative(path), { signal: abortSignal })) ?? null,
    );
  const write = ({ path, content, abortSignal }: WriteOptions<string | Uint8Array>) =>
    forModel(abortSignal, async () => files.write(await paths.toRelative(path), content, { signal: abortSignal }));

  return {
    readFile: ({ path, abortSignal }) =>
      forModel(abortSignal, async () => {
        const body = await files.open(await paths.toRelative(path), { signal: abortSignal });
        return body ?? null;
      }),
    readBinaryFile: read,
    async readTextFile({ encoding = 'utf-8', startLine = 1, endLine, ...options }) {
      const bytes = await read(options);
      if (!bytes) return null;
      const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
      if (startLine === 1 && endLine === undefined) return text;
      return (
        text
          .match(/[^\n]*\n|[^\n]+$/g)
          ?.slice(startLine - 1, endLine)
          .join('') ?? ''
      );
    },
    writeFile: async ({ content, ...options }) => write({ ...options, content: await collectBytes(content) }),
    writeBinaryFile: write,
    async writeTextFile({ encoding = 'utf-8', ...options }) {
      if (!/^utf-?8$/i.test(encoding))
        throw new CroftError('E_INVALID_INPUT', `text is written in UTF-8, not ${encoding}`);
      await write(options);
    },
    stat: ({ path, abortSignal }) =>
      forModel(abortSignal, async () => {
        const found = await files.stat(await paths.toRelative(path));
        return found ? { type: found.kind, size: found.size } : null;
      }),
    listDirectory: ({ path, abortSignal }) =>
      forModel(abortSignal, async () => {
        const entries = await files.list(await paths.toRelative(path));
        return entries?.map(({ name, kind }) => ({ name, type: kind === 'link' ? 'symlink' : kind })) ?? null;
      }),
    deleteFile: ({ path, abortSignal }) =>
      forModel(abortSignal, async () => files.remove(await paths.toRelative(path), { signal: abortSignal })),
  };
}

function toCommands({ box, paths }: Parts): Pick<AiSandbox, 'spawn' | 'run'> {
  const toCwd = async (path: string | undefined) => (path === undefined ? undefined : paths.toDirectory(path));
  const spawn = async ({
    command,
    workingDirectory,
    env,
    abortSignal,
    stdin,
  }: CommandOptions & { stdin?: boolean }) => {
    if (stdin) throw new CroftError('E_INVALID_INPUT', 'a command of Croft cannot be written to: leave out stdin');
    const cwd = await toCwd(workingDirectory);
    return spawnAiProcess(box, toCommandLine(command, env), { cwd, signal: abortSignal });
  };
  return {
    // Its two forms differ by an option alone; the one with standard input always throws.
    spawn: spawn as AiSandbox['spawn'],
    run: ({ command, workingDirectory, env, abortSignal }) =>
      forModel(abortSignal, async () => {
        const cwd = await toCwd(workingDirectory);
        const result = await box.exec(toCommandLine(command, env), { cwd, signal: abortSignal });
        return { exitCode: toExitCode(result), stdout: result.stdout, stderr: toErrorOutput(result) };
      }),
  };
}

async function forModel<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
  signal?.throwIfAborted();
  return work().catch((thrown) => {
    throw signal?.aborted ? thrown : toModelError(thrown);
  });
}
