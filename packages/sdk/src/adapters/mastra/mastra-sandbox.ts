import type { Box } from '../../box/box.ts';
import { longestCallSeconds } from '../../box/call-seconds.ts';
import type { Command } from '../../box/command.ts';
import { quoteWord } from '../../box/quote-word.ts';
import { toModelError } from '../model-tools.ts';
import { toCommandLine, toErrorOutput, toExitCode } from '../shell-command.ts';
import { createWorkspacePaths } from '../workspace-paths.ts';
import { MastraProcesses } from './mastra-processes.ts';

interface CommandOptions {
  /** Milliseconds. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string | undefined;
  readonly onStdout?: ((text: string) => void) | undefined;
  readonly onStderr?: ((text: string) => void) | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

interface CommandResult {
  command: string;
  args: string[];
  success: boolean;
  exitCode: number;
  stdout: string;
  stderr: string;
  executionTimeMs: number;
  timedOut: boolean;
  killed: boolean;
}

/** `WorkspaceSandbox` of Mastra. */
export interface MastraSandbox {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  status: 'running' | 'destroyed';
  getInstructions(): string;
  getInfo(): { id: string; name: string; provider: string; status: 'running' | 'destroyed'; createdAt: Date };
  isReady(): boolean;
  /** Ends the session of the box. Its files stay. */
  destroy(): Promise<void>;
  snapshot(): Promise<void>;
  /** Commands that go on when their call has ended. They end with the session of the box. */
  readonly processes: MastraProcesses;
  executeCommand(command: string, args?: string[], options?: CommandOptions): Promise<CommandResult>;
}

/** The sandbox of a box for `new Workspace({ sandbox })` of Mastra. Its commands are calls of the agent of the box. */
export function mastraSandbox(box: Box): MastraSandbox {
  const about = { id: box.agentId, name: box.name, provider: 'croft' };
  const createdAt = new Date();
  return {
    ...about,
    status: 'running',
    getInstructions: () =>
      `Commands start in the workspace. A command ends after ${longestCallSeconds} seconds, unless it runs in the background. The sandbox refuses what its policy does not allow, and says so.`,
    getInfo() {
      return { ...about, status: this.status, createdAt };
    },
    isReady() {
      return this.status === 'running';
    },
    async destroy() {
      this.status = 'destroyed';
      await box.close();
    },
    snapshot: async () => {},
    processes: new MastraProcesses(box),
    executeCommand: (command, args = [], options = {}) => execute(box, command, args, options),
  };
}

async function execute(box: Box, command: string, args: string[], options: CommandOptions): Promise<CommandResult> {
  const { timeout, env, cwd, onStdout, onStderr, abortSignal: signal } = options;
  const startedAt = performance.now();
  const line = [command, ...args.map(quoteWord)].join(' ');
  const paths = createWorkspacePaths(box, { isRoot: true });
  const running = box.exec(toCommandLine(line, env), {
    cwd: cwd === undefined ? undefined : await paths.toDirectory(cwd),
    timeout: timeout === undefined ? undefined : Math.min(timeout / 1000, longestCallSeconds),
    signal,
  });
  const result = await follow(running, { onStdout, onStderr }).catch((thrown) => {
    throw signal?.aborted ? thrown : toModelError(thrown);
  });
  const { stdout, timedOut } = result;
  const stderr = toErrorOutput(result);
  const exitCode = toExitCode(result);
  const executionTimeMs = Math.round(performance.now() - startedAt);
  const ended = { success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs, timedOut };
  return { command, args, ...ended, killed: result.signal !== null };
}

async function follow(command: Command, { onStdout, onStderr }: Pick<CommandOptions, 'onStdout' | 'onStderr'>) {
  if (onStdout || onStderr)
    for await (const { stream, text } of command) (stream === 'stdout' ? onStdout : onStderr)?.(text);
  return command;
}
