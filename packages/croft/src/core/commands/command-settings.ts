import { AppError } from '@croft/protocol';
import { readShellProgramNames } from '../../lib/text/shell/shell-program-names.ts';

type Runtime = 'bash' | 'python' | 'node';

const programs: ReadonlyMap<string, Runtime> = new Map([
  ...['python', 'python3', 'pip', 'pip3'].map((name) => [name, 'python'] as const),
  ...['node', 'npm', 'npx'].map((name) => [name, 'node'] as const),
]);

/** Limits on the commands of one workspace, beside those of its sandbox. */
export interface CommandSettings {
  /** Longest time that a command may take. */
  readonly maxMs?: number | undefined;
  /** Most bytes of output that are shown. */
  readonly outputBytes?: number | undefined;
  /** Left out: all runtimes. */
  readonly runtimes?: readonly Runtime[] | undefined;
}

/** Splits the limit on output into its beginning and its end. */
export function toOutputLimits({ outputBytes }: CommandSettings): { headBytes: number; tailBytes: number } | undefined {
  if (outputBytes === undefined) return undefined;
  const headBytes = Math.ceil(outputBytes / 2);
  return { headBytes, tailBytes: outputBytes - headBytes };
}

/**
 * Throws `E_COMMAND_REJECTED` for the first program of a runtime that the settings do not list. Like the check for
 * `sudo`, this saves an attempt and protects nothing: programs that a program starts are not examined.
 */
export function checkRuntimes(command: string, { runtimes }: CommandSettings): void {
  if (!runtimes) return;
  for (const word of readShellProgramNames(command)) {
    const runtime = programs.get(word.slice(word.lastIndexOf('/') + 1)) ?? 'bash';
    if (runtimes.includes(runtime)) continue;
    throw new AppError('E_COMMAND_REJECTED', `this sandbox does not allow ${runtime} commands`, {
      details: { runtime },
      hint: `Nothing ran. Use one of: ${runtimes.join(', ')}; or ask the owner of the sandbox to allow ${runtime}.`,
    });
  }
}
