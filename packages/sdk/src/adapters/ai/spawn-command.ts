import type { Box } from '../../box/box.ts';
import type { CommandLine, ExecOptions } from '../../box/exec.ts';
import { toExitCode } from '../shell-command.ts';

/** A command that goes on while the program does something else. */
export interface AiProcess {
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): Promise<{ exitCode: number }>;
  kill(): Promise<void>;
}

/** Starts a command that no time limit ends. Resolves when it runs. */
export async function spawnAiProcess(
  box: Box,
  line: CommandLine,
  { cwd, signal }: Pick<ExecOptions, 'cwd' | 'signal'>,
): Promise<AiProcess> {
  const command = box.exec(line, { background: true, cwd, signal });
  await command.id;
  const stop = () => void command.kill().catch(() => {});
  signal?.addEventListener('abort', stop, { once: true });
  const encoder = new TextEncoder();
  const chunks = command[Symbol.asyncIterator]();
  return {
    stdout: new ReadableStream({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value.text));
      },
    }),
    stderr: new ReadableStream({ start: (controller) => controller.close() }),
    async wait() {
      const result = await command.catch((thrown: unknown) => {
        throw signal?.aborted ? signal.reason : thrown;
      });
      signal?.removeEventListener('abort', stop);
      signal?.throwIfAborted();
      return { exitCode: toExitCode(result) };
    },
    kill: () => command.kill(),
  };
}
