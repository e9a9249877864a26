import { StringDecoder } from 'node:string_decoder';
import type { BackgroundCommand, Box } from '@croft/sdk';
import type { CommandContext } from '../command.ts';
import { writeToStream } from '../output/write-to-stream.ts';
import type { ExecEnding, ExecRequest } from './exec-request.ts';

/** Less than a call may carry, and enough that a large file needs few calls. */
const pieceChars = 256 * 1024;

/**
 * Runs a command with the standard input of this program. Its stdout and stderr arrive as one stream, in the order of
 * printing.
 */
export async function runWithInput(request: ExecRequest): Promise<ExecEnding> {
  const { box, line, cwd, secrets, terminal } = request;
  const words = line.map(quote).join(' ');
  const { stop: signal } = terminal;
  const command = box.exec(`exec ${words}`, { background: true, cwd, secrets, signal });
  // Rejects for a command that needs an approval, before any input is read.
  await command.id;
  void sendInput(box, command, terminal).catch(() => {});
  for await (const { text } of command) await writeToStream(terminal.stdout, text);
  const { exitCode, signal: by, violations: denials } = await command;
  return { exitCode, signal: by, timedOut: false, stdout: '', stderr: '', denials };
}

/** Ends with the input, or when the command takes no more. */
async function sendInput(box: Box, { id }: BackgroundCommand, { stdin, stop }: CommandContext): Promise<void> {
  const shell_id = await id;
  const decoder = new StringDecoder('utf8');
  const send = async (text: string, close = false) => {
    for (let at = 0; at < text.length || close; at += pieceChars) {
      const isLast = at + pieceChars >= text.length;
      await box.call(
        'bash_input',
        { shell_id, text: text.slice(at, at + pieceChars), close: close && isLast },
        { signal: stop },
      );
      if (isLast) return;
    }
  };
  for await (const piece of stdin) await send(decoder.write(piece as Buffer));
  await send(decoder.end(), true);
}

/** Quotes a text so that bash reads it as one word. */
function quote(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
