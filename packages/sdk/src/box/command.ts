import { CroftError } from '../errors/croft-error.ts';
import type { CommandResult, OutputChunk } from './command-result.ts';

/**
 * A started command. `await` gives its result; a loop gives its output while it runs. Both may be used, and several
 * times.
 */
export interface Command extends Promise<CommandResult>, AsyncIterable<OutputChunk> {
  /** Ends the command with everything that it started, and resolves when that is done. */
  kill(): Promise<void>;
}

/** A command in the background: no call waits for it. */
export interface BackgroundCommand extends Command {
  /** For `box.attach(id)`, also in another program with the same key and session. */
  readonly id: Promise<string>;
}

export interface CommandRun {
  /** Passes output on as it arrives. Rejects if the command could not be run. */
  run(onOutput: (chunk: OutputChunk) => void): Promise<CommandResult>;
  kill(): Promise<void>;
}

/** Most output that is kept for a loop that begins late or reads slowly. */
const maxWaitingChars = 16 * 1024 * 1024;

export function createCommand({ run, kill }: CommandRun): Command {
  const output = createOutputLog();
  const result = run(output.add).finally(output.end);
  // A program that only iterates gets the failure from the loop.
  result.catch(() => {});
  return Object.assign(result, {
    kill,
    async *[Symbol.asyncIterator](): AsyncGenerator<OutputChunk> {
      yield* output.read();
      await result;
    },
  });
}

/** Keeps output for loops that begin late. Above a limit, drops output that every loop has read. */
function createOutputLog() {
  const chunks: OutputChunk[] = [];
  const readers = new Set<{ next: number }>();
  let [forgotten, chars, isOver] = [0, 0, false];
  let bell = Promise.withResolvers<void>();
  const ring = () => {
    bell.resolve();
    bell = Promise.withResolvers();
  };
  const forgetRead = () => {
    if (readers.size === 0) return;
    const read = Math.min(...[...readers].map(({ next }) => next));
    for (; chars > maxWaitingChars && forgotten < read; forgotten++) chars -= chunks.shift()?.text.length ?? 0;
  };
  return {
    add(chunk: OutputChunk): void {
      chars += chunk.text.length;
      chunks.push(chunk);
      forgetRead();
      if (chars > maxWaitingChars) chars -= chunks.pop()?.text.length ?? 0;
      ring();
    },
    end(): void {
      isOver = true;
      ring();
    },
    async *read(): AsyncGenerator<OutputChunk> {
      const reader = { next: forgotten };
      readers.add(reader);
      try {
        for (;;) {
          const rung = bell.promise;
          while (reader.next - forgotten < chunks.length) yield chunks[reader.next++ - forgotten] as OutputChunk;
          if (isOver) return;
          await rung;
        }
      } finally {
        readers.delete(reader);
      }
    },
  };
}

/** Throws for a command that failed, if the caller asked for that. */
export function checked(command: string, result: CommandResult, check: boolean | undefined): CommandResult {
  if (!check || result.exitCode === 0) return result;
  const how = describeEnd(result);
  throw new CroftError('E_COMMAND_FAILED', `${command}: ${how}${lastLines(result)}`, { details: { command, result } });
}

function describeEnd({ exitCode, signal, timedOut }: CommandResult): string {
  if (timedOut) return 'its time ran out';
  return exitCode === null ? `ended by ${signal}` : `exit ${exitCode}`;
}

function lastLines({ stdout, stderr }: CommandResult): string {
  const shown = (stderr.trim() === '' ? stdout : stderr).trim().split('\n').slice(-5).join('\n');
  return shown === '' ? '' : `\n${shown}`;
}
