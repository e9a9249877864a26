import { AppError } from '@croft/protocol';
import type { Redact } from '../../lib/redact.ts';
import { stripControl } from '../../lib/text/strip-control.ts';
import { collectDenials } from './denials.ts';
import { type Observe, type StartedCommand, startCommand } from './run-command.ts';
import type { CommandSpec, Denial, Exit, Sandbox } from './sandbox.ts';
import type { Watch } from './watch.ts';

/** A command in the background. Stays, with what it printed, until it is killed or the session ends. */
export interface Shell extends StartedCommand {
  readonly id: string;
  readonly workspace: string;
  readonly command: string;
  readonly startedOn: Date;
  exit: Exit | undefined;
  /** Why it could not go on, when that is not how the program ended. */
  failure: AppError | undefined;
  /** What is being looked for in its output, if it was started to be watched. */
  watch: Watch | undefined;
  /** Whether somebody was told what its words at the end meant. */
  isExplained: boolean;
}

/** Without its command, which may have secrets in it: this is kept in the clear. */
export type NamedShell = Pick<Shell, 'id' | 'workspace'>;

export type Shells = ReturnType<typeof createShells>;

const maxShells = 64;
const keptBytes = { headBytes: 256 * 1024, tailBytes: 768 * 1024 };

/** The background commands of one session. Nobody else can name them. */
export function createShells() {
  const shells = new Map<string, Shell>();
  // Of a server that this session was on before. They ended with it, and whoever asks is told so.
  const elsewhere = new Map<string, NamedShell>();

  return {
    ...{ start, adopt, find, kill, takeDenials, list: () => [...shells.values()] },
    /** Every one there was, for a server that goes on with the session. */
    known: (): readonly NamedShell[] => [...elsewhere.values(), ...shells.values()].slice(-maxShells),
    remember(others: readonly NamedShell[]): void {
      for (const shell of others) if (!shells.has(shell.id)) elsewhere.set(shell.id, shell);
    },
  };

  function start(sandbox: Sandbox, workspace: string, command: string, spec: CommandSpec, observe?: Observe): Shell {
    if (shells.size >= maxShells) forgetOldest();
    return adopt(startCommand(sandbox, spec, { bytes: keptBytes, ...(observe && { observe }) }), workspace, command);
  }

  /** Takes over a command that is already running. */
  function adopt(started: StartedCommand, workspace: string, command: string): Shell {
    const shell: Shell = {
      ...started,
      id: crypto.randomUUID(),
      workspace,
      command,
      startedOn: new Date(),
      exit: undefined,
      failure: undefined,
      watch: undefined,
      isExplained: false,
    };
    shells.set(shell.id, shell);
    noteEnd(shell);
    return shell;
  }

  /** Only in the workspace it was started in. */
  function find(id: string, workspace: string): Shell {
    const shell = shells.get(id);
    if (shell?.workspace === workspace) return shell;
    if (elsewhere.get(id)?.workspace === workspace)
      throw new AppError('E_NOT_RUNNING', `shell ${id} ended with the server it ran on`, { details: { shell_id: id } });
    throw new AppError('E_NOT_FOUND', `unknown shell_id: ${id}`, { details: { shell_id: id } });
  }

  /** What was refused in its sandbox since somebody last asked and, once it has ended, what its words tell of. */
  function takeDenials(shell: Shell, redact: Redact): Denial[] {
    const exit = shell.isExplained ? undefined : shell.exit;
    if (exit) shell.isExplained = true;
    return collectDenials(shell.sandbox, exit && { exit, output: stripControl(shell.all.toText()) }, redact);
  }

  function kill(id: string, workspace: string): void {
    const shell = find(id, workspace);
    if (!shell.exit) shell.running.kill();
    shells.delete(id);
  }

  function forgetOldest(): void {
    const ended = [...shells.values()].find(({ exit, failure }) => exit ?? failure);
    if (!ended) {
      throw new AppError('E_TOO_MANY', `${maxShells} background commands are running; kill one first`, {
        details: { max: maxShells },
      });
    }
    shells.delete(ended.id);
  }
}

function noteEnd(shell: Shell): void {
  shell.ended.then(
    (exit) => {
      shell.exit = exit;
    },
    (thrown) => {
      shell.failure = AppError.from(thrown);
    },
  );
}
