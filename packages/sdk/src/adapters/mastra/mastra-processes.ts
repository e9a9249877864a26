import { ProcessHandle, SandboxProcessManager } from '@mastra/core/workspace';
import type { Box } from '../../box/box.ts';
import type { BackgroundCommand } from '../../box/command.ts';
import { toModelError } from '../model-tools.ts';
import { toCommandLine, toErrorOutput, toExitCode } from '../shell-command.ts';
import { createWorkspacePaths } from '../workspace-paths.ts';

interface SpawnOptions {
  /** Milliseconds. Without it, no time limit ends the process. */
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly maxRetainedBytes?: number;
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

interface ProcessInfo {
  pid: string;
  command?: string;
  running: boolean;
  exitCode?: number;
}

/**
 * The background processes of a box for Mastra: `execute_command` with `background`, `get_process_output` and
 * `kill_process`. Each is a background command of the agent of the box; its two streams come as one, in `stdout`.
 */
export class MastraProcesses extends SandboxProcessManager {
  readonly #box: Box;

  constructor(box: Box) {
    super();
    this.#box = box;
    // Mastra's own class asks its sandbox to start before each call. A box is open.
    Object.assign(this, { sandbox: { ensureRunning: async () => {} } });
  }

  override async spawn(command: string, options: SpawnOptions = {}): Promise<MastraProcess> {
    const box = this.#box;
    const paths = createWorkspacePaths(box, { isRoot: true });
    const cwd = options.cwd === undefined ? undefined : await paths.toDirectory(options.cwd);
    const running = box.exec(toCommandLine(command, { ...this.env, ...options.env }), { background: true, cwd });
    const pid = await running.id.catch((thrown) => {
      throw toModelError(thrown);
    });
    const started = new MastraProcess(box, pid, { running, options });
    this._tracked.set(pid, started);
    return started;
  }

  override async list(): Promise<ProcessInfo[]> {
    return [...this._tracked.values()].map(({ pid, command, exitCode }) => ({
      ...{ pid, running: exitCode === undefined },
      ...(command !== undefined && { command }),
      ...(exitCode !== undefined && { exitCode }),
    }));
  }
}

interface Started {
  readonly running: BackgroundCommand;
  readonly options: SpawnOptions;
}

class MastraProcess extends ProcessHandle {
  readonly pid: string;
  exitCode: number | undefined;
  readonly #box: Box;
  readonly #running: BackgroundCommand;
  readonly #ended: Promise<Ended>;
  #timedOut = false;

  constructor(box: Box, pid: string, { running, options }: Started) {
    super(options);
    [this.#box, this.pid, this.#running] = [box, pid, running];
    this.#ended = this.#follow(options.timeout);
    this.#ended.catch(() => {});
  }

  override async kill(): Promise<boolean> {
    if (this.exitCode !== undefined) return false;
    await this.#running.kill();
    await this.#ended;
    return true;
  }

  override async sendStdin(text: string): Promise<void> {
    await this.#box.call('bash_input', { shell_id: this.pid, text });
  }

  override async closeStdin(): Promise<void> {
    await this.#box.call('bash_input', { shell_id: this.pid, text: '', close: true });
  }

  override wait(): Promise<Ended> {
    return this.#ended;
  }

  async #follow(timeoutMs: number | undefined): Promise<Ended> {
    const startedAt = performance.now();
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.#endInTime(), timeoutMs);
    try {
      for await (const { text } of this.#running) this.emitStdout(text);
      const result = await this.#running;
      const notes = toErrorOutput({ ...result, timedOut: this.#timedOut });
      if (notes !== '') this.emitStderr(notes);
      this.exitCode = this.#timedOut ? 124 : toExitCode(result);
      const { stdout, stderr, exitCode } = this;
      const executionTimeMs = Math.round(performance.now() - startedAt);
      const how = { timedOut: this.#timedOut, killed: result.signal !== null };
      return { success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs, ...how };
    } finally {
      clearTimeout(timer);
    }
  }

  #endInTime(): void {
    this.#timedOut = true;
    void this.#running.kill().catch(() => {});
  }
}

interface Ended {
  success: boolean;
  exitCode: number;
  stdout: string;
  stderr: string;
  executionTimeMs: number;
  timedOut: boolean;
  killed: boolean;
}
