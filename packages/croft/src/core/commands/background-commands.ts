import { AppError } from '@croft/protocol';
import type { Redact } from '../../lib/redaction/redact.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';
import { takeSandboxDenials } from './denials/sandbox-denials.ts';
import type { OutputWatch } from './output-watch.ts';
import { type OutputObserver, type StartedCommand, startCommand } from './run-command.ts';
import type { CommandSpec, ProgramExit, Sandbox, SandboxDenial } from './sandbox.ts';

/** A background command. It stays, with its output, until it is killed or the session ends. */
export interface BackgroundCommand extends StartedCommand {
  readonly id: string;
  readonly workspace: string;
  readonly command: string;
  readonly startedOn: Date;
  exit: ProgramExit | undefined;
  /** Why the command failed, if not by its own exit. */
  failure: AppError | undefined;
  /** The watch on its output, if it was started with one. */
  watch: OutputWatch | undefined;
  /** Whether `takeDenials` has already explained its final output. */
  isExplained: boolean;
}

/** A background command without its command line, which may hold secrets: this is stored unencrypted. */
type BackgroundCommandName = Pick<BackgroundCommand, 'id' | 'workspace'>;

export type BackgroundCommands = ReturnType<typeof createBackgroundCommands>;

const maxBackgroundCommands = 64;
const storedBytes = { headBytes: 256 * 1024, tailBytes: 768 * 1024 };

/**
 * The background commands of one session; no other session can name them. `lostBecause` says what ended earlier ones.
 */
export function createBackgroundCommands(lostBecause?: string) {
  const commands = new Map<string, BackgroundCommand>();
  // Commands of another server that this session was on, or from before an interruption. Callers that name one get an
  // explanation.
  const elsewhere = new Map<string, BackgroundCommandName>();

  return {
    ...{ start, adopt, find, workspaceOf, kill, takeDenials, list: () => [...commands.values()] },
    /** All commands, for a server that continues the session. */
    known: (): readonly BackgroundCommandName[] =>
      [...elsewhere.values(), ...commands.values()].slice(-maxBackgroundCommands),
    remember(others: readonly BackgroundCommandName[]): void {
      for (const shell of others) if (!commands.has(shell.id)) elsewhere.set(shell.id, shell);
    },
  };

  function start(
    sandbox: Sandbox,
    workspace: string,
    command: string,
    spec: CommandSpec,
    observe?: OutputObserver,
  ): BackgroundCommand {
    if (commands.size >= maxBackgroundCommands) forgetOldest(commands);
    return adopt(startCommand(sandbox, spec, { bytes: storedBytes, ...(observe && { observe }) }), workspace, command);
  }

  /** Turns a running command into a background command. */
  function adopt(started: StartedCommand, workspace: string, command: string): BackgroundCommand {
    const shell: BackgroundCommand = {
      ...started,
      ...{ id: crypto.randomUUID(), workspace, command, startedOn: new Date() },
      ...{ exit: undefined, failure: undefined, watch: undefined, isExplained: false },
    };
    commands.set(shell.id, shell);
    noteEnd(shell);
    return shell;
  }

  /** Returns the workspace that the command was started in. */
  function workspaceOf(id: string): string | undefined {
    return (commands.get(id) ?? elsewhere.get(id))?.workspace;
  }

  /** Returns a command, only for the workspace that it was started in. */
  function find(id: string, workspace: string): BackgroundCommand {
    const own = workspaceOf(id);
    if (own === undefined) throw notFound(`unknown shell_id: ${id}`, id);
    if (own !== workspace)
      throw notFound(`shell ${id} belongs to the workspace ${own}, not to ${workspace}; leave workspace out`, id);
    const shell = commands.get(id);
    if (shell) return shell;
    throw notOnThisServer(id, lostBecause);
  }

  /**
   * Returns the denials of its sandbox since the last call and, once the command has ended, those that its output
   * reveals.
   */
  function takeDenials(shell: BackgroundCommand, redact: Redact): SandboxDenial[] {
    const exit = shell.isExplained ? undefined : shell.exit;
    if (exit) shell.isExplained = true;
    const ended = exit && { exit, output: stripControlSequences(shell.all.toText()) };
    return takeSandboxDenials(shell.sandbox, ended, redact);
  }

  function kill(id: string, workspace: string): void {
    const shell = find(id, workspace);
    if (!shell.exit) shell.running.kill();
    commands.delete(id);
  }
}

function forgetOldest(commands: Map<string, BackgroundCommand>): void {
  const ended = [...commands.values()].find(({ exit, failure }) => exit ?? failure);
  if (!ended) {
    throw new AppError('E_TOO_MANY', `${maxBackgroundCommands} background commands are running; kill one first`, {
      details: { max: maxBackgroundCommands },
    });
  }
  commands.delete(ended.id);
}

function notFound(message: string, shell_id: string): AppError {
  return new AppError('E_NOT_FOUND', message, { details: { shell_id } });
}

export const backgroundCommandStates = ['running', 'completed', 'failed'] as const;

export function backgroundCommandState({
  exit,
  failure,
}: Pick<BackgroundCommand, 'exit' | 'failure'>): (typeof backgroundCommandStates)[number] {
  if (failure) return 'failed';
  return exit ? 'completed' : 'running';
}

/** Only the server that started the command could say whether it still runs. */
function notOnThisServer(id: string, lostBecause?: string): AppError {
  if (lostBecause !== undefined)
    return new AppError('E_NOT_RUNNING', `shell ${id} ${lostBecause}`, { details: { shell_id: id } });
  const where = 'it was started on another server, or on this one before it restarted';
  return new AppError('E_NOT_RUNNING', `shell ${id} is not on this server: ${where}`, {
    details: { shell_id: id },
    hint:
      'With several servers, send all calls of a session to one: there it may still be running. ' +
      'Otherwise start it again with run_in_background.',
  });
}

function noteEnd(shell: BackgroundCommand): void {
  shell.ended.then(
    (exit) => {
      shell.exit = exit;
    },
    (thrown) => {
      shell.failure = AppError.from(thrown);
    },
  );
}
