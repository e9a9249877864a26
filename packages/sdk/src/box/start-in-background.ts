import { z } from 'zod';
import { pause } from '../connection/resilient-fetch.ts';
import { type BackgroundCommand, checked, createCommand } from './command.ts';
import { type CommandResult, Violation } from './command-result.ts';
import { type CommandLine, type ExecOptions, toText } from './exec.ts';
import { quoteWord } from './quote-word.ts';
import type { ToolCaller } from './tool-caller.ts';

export type BackgroundOptions = Omit<ExecOptions, 'timeout'>;

const Started = z.object({ shell_id: z.string() });
const Output = z.object({
  status: z.enum(['running', 'completed', 'failed']),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  output: z.string(),
  cursor: z.int(),
  missed: z.int(),
  remaining: z.int(),
  denials: z.array(Violation),
});
const Killed = z.object({ shell_id: z.string(), wasRunning: z.boolean() });

const firstLookMs = 50;
const longestLookMs = 2000;

/** Starts a command in the background. Its stdout and stderr arrive as one stream, in the order of printing. */
export function startInBackground(
  caller: ToolCaller,
  line: CommandLine,
  options: BackgroundOptions = {},
): BackgroundCommand {
  const { cwd, secrets, signal } = options;
  const command = typeof line === 'string' ? line : line.map(quoteWord).join(' ');
  const input = { command, run_in_background: true, ...(cwd !== undefined && { cwd }), ...(secrets && { secrets }) };
  const id = caller.call('bash', input, Started, { signal }).then(({ shell_id }) => shell_id);
  return follow(caller, id, { ...options, line });
}

/** Follows a command that was started before. Its output comes from the beginning, as far as the server has it. */
export function attach(caller: ToolCaller, id: string, options: Pick<ExecOptions, 'check' | 'signal'> = {}) {
  return follow(caller, Promise.resolve(id), { ...options, line: id });
}

interface Following extends Pick<ExecOptions, 'check' | 'signal'> {
  readonly line: CommandLine;
}

function follow(caller: ToolCaller, id: Promise<string>, { line, check, signal }: Following): BackgroundCommand {
  id.catch(() => {});
  let isKilled = false;
  const command = createCommand({
    async run(onOutput) {
      const shell_id = await id;
      const result = await readToEnd(shell_id, (text) => onOutput({ stream: 'stdout', text }));
      return checked(toText(line), result, check);
    },
    async kill() {
      const shell_id = await id;
      isKilled = true;
      await caller.call('kill_shell', { shell_id }, Killed);
      await command.catch(() => {});
    },
  });
  return Object.assign(command, { id });

  async function readToEnd(shell_id: string, onText: (text: string) => void): Promise<CommandResult> {
    const read = createOutputReader(caller, shell_id, signal);
    for (;;) {
      const part = await read.next().catch(toUndefinedIfKilled);
      if (!part) return read.toResult({ exitCode: null, signal: 'SIGKILL' });
      if (part.output !== '') onText(part.output);
      if (part.status !== 'running' && part.remaining === 0) return read.toResult(part);
    }
  }

  function toUndefinedIfKilled(thrown: unknown): undefined {
    if (!isKilled) throw thrown;
  }
}

/** Reads the output of a command; asks less often while there is none. */
function createOutputReader(caller: ToolCaller, shell_id: string, signal: AbortSignal | undefined) {
  const violations: Violation[] = [];
  let [cursor, stdout, missed, pauseMs] = [0, '', 0, 0];
  return {
    async next() {
      await pause(pauseMs, signal);
      const part = await caller.call('bash_output', { shell_id, cursor }, Output, { signal });
      [cursor, stdout, missed] = [part.cursor, stdout + part.output, missed + part.missed];
      violations.push(...part.denials);
      const isQuiet = part.output === '' && part.remaining === 0;
      pauseMs = isQuiet ? Math.min(pauseMs * 2 || firstLookMs, longestLookMs) : firstLookMs;
      return part;
    },
    toResult: ({ exitCode, signal: by }: Pick<z.output<typeof Output>, 'exitCode' | 'signal'>): CommandResult => ({
      ...{ exitCode, signal: by, timedOut: false, stdout, stderr: '', truncated: missed > 0, violations },
    }),
  };
}
