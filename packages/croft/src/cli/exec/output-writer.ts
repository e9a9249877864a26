import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import type { ToolBytes } from '@croft/sdk';
import type { CommandContext } from '../command.ts';
import { writeToStream } from '../output/write-to-stream.ts';
import { createColourFilter } from './colours.ts';
import type { ExecEnding } from './exec-request.ts';

const streams = ['stdout', 'stderr'] as const;

/**
 * Writes the output of a command: its bytes into a file or a pipe, its text with colours on a terminal. Says which
 * secrets are missing in a file, where nobody sees their marks.
 */
export function createOutputWriter(terminal: Pick<CommandContext, 'stdout' | 'stderr'>) {
  const targets = { stdout: createTarget(terminal.stdout), stderr: createTarget(terminal.stderr) };
  const redacted = new Set<string>();
  let isFollowed = false;
  return {
    hasColours: (terminal.stdout as Partial<WriteStream>).hasColors?.() ?? false,
    async write({ stream, bytes, redacted: names }: ToolBytes): Promise<void> {
      isFollowed = true;
      if (!targets[stream].isTerminal) for (const name of names) redacted.add(name);
      await targets[stream].write(bytes);
    },
    async end(ended: ExecEnding): Promise<void> {
      for (const stream of streams) {
        // A server that does not send output as it comes.
        if (!isFollowed) await targets[stream].write(Buffer.from(ended[stream]));
        await targets[stream].end();
      }
      if (redacted.size === 0) return;
      terminal.stderr.write(`croft: the output has marks in place of secrets: ${[...redacted].sort().join(', ')}\n`);
    },
  };
}

function createTarget(stream: Writable) {
  const isTerminal = (stream as Partial<WriteStream>).isTTY === true;
  const filter = createColourFilter();
  return {
    isTerminal,
    write: (bytes: Uint8Array) => writeToStream(stream, isTerminal ? filter.push(bytes) : bytes),
    end: () => writeToStream(stream, isTerminal ? filter.end() : ''),
  };
}
