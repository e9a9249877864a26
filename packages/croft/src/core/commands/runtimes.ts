import { AppError } from '@croft/protocol';
import { readShellCommands } from '../../lib/text/shell-commands.ts';

export type Runtime = 'bash' | 'python' | 'node';

const programs: ReadonlyMap<string, Runtime> = new Map([
  ...['python', 'python3', 'pip', 'pip3'].map((name) => [name, 'python'] as const),
  ...['node', 'npm', 'npx'].map((name) => [name, 'node'] as const),
]);

/** How commands of one workspace are bounded, besides by its sandbox. */
export interface CommandSettings {
  /** The longest any may take. */
  readonly maxMs?: number | undefined;
  /** The most that is shown of what one prints. */
  readonly outputBytes?: number | undefined;
  /** Left out: all. */
  readonly runtimes?: readonly Runtime[] | undefined;
}

/** How much of the beginning and of the end is kept. */
export function toShownBytes({ outputBytes }: CommandSettings): { headBytes: number; tailBytes: number } | undefined {
  if (outputBytes === undefined) return undefined;
  const headBytes = Math.ceil(outputBytes / 2);
  return { headBytes, tailBytes: outputBytes - headBytes };
}

/**
 * Throws `E_COMMAND_REJECTED` for the first program of a runtime that is not wanted here. Like the guard against `sudo`
 * it saves a try and is no fence: what a program starts in turn is not looked at.
 */
export function checkRuntimes(command: string, { runtimes }: CommandSettings): void {
  if (!runtimes) return;
  for (const word of readShellCommands(command)) {
    const runtime = programs.get(word.slice(word.lastIndexOf('/') + 1)) ?? 'bash';
    if (runtimes.includes(runtime)) continue;
    throw new AppError('E_COMMAND_REJECTED', `this sandbox does not allow ${runtime} commands`, {
      details: { runtime },
    });
  }
}
