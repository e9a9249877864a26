import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { cwd, cwdAliases } from '../core/arguments/common-arguments.ts';
import { checkRuntimes } from '../core/commands/command-settings.ts';
import { findImpossibleCommand } from '../core/commands/find-impossible-command.ts';
import { createOutputWatch, type OutputWatchPattern } from '../core/commands/output-watch.ts';
import { rejectedCommandError } from '../core/commands/run-command.ts';
import { startCallIn } from '../core/sessions/resolve-start-directory.ts';
import { defineTool } from '../core/tools/tool.ts';
import { createTokenBucket, type TokenBucket } from '../lib/concurrency/token-bucket.ts';
import { compileLinearPattern } from '../lib/text/patterns/linear-pattern.ts';

const defaultPatterns = ['^Error:', '^Fatal:', '^panic:', '\\buncaught\\b', 'UnhandledPromiseRejection'];
const maxPatterns = 32;
/** Ordinary patterns need almost no steps. Patterns made to be slow get a few percent of the server's time. */
const stepsPerSecond = 1_000_000;

export const watchProcess = defineTool({
  name: 'watch_process',
  aliases: ['WatchProcess'],
  spellings: { aliases: { cmd: 'command', ...cwdAliases } },
  title: 'Watch a long-running command',
  description:
    'Start a command in the background and keep a log of what happens to it: lines on standard error that match a pattern, ' +
    'silence for too long, its end. Read it with watch_process_events.',
  toolset: 'commands',
  access: 'execute',
  reach: 'one',
  input: z.object({
    command: z.string().min(1).describe('Command line for bash, run in the workspace'),
    description: z.string().optional().describe('Its purpose, in a few words'),
    cwd,
    error_patterns: z
      .array(z.string())
      .optional()
      .describe('Regular expressions for lines that are errors; [] for none'),
    idle_timeout_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(0)
      .describe('End it after this time without output; 0 for never'),
  }),
  output: z.object({ shell_id: z.string(), error_patterns: z.array(z.string()), idle_timeout_seconds: z.number() }),
  async run(call, context) {
    const { workspace } = context;
    const refused = findImpossibleCommand(call.command);
    if (refused !== undefined) throw rejectedCommandError(refused);
    checkRuntimes(call.command, workspace.commands ?? {});
    const { session } = await startCallIn(call.cwd, context);
    const allowance = createTokenBucket({ capacity: stepsPerSecond, perSecond: stepsPerSecond });
    const patterns = compileAll(call.error_patterns ?? defaultPatterns, allowance);
    const idleMs = call.idle_timeout_seconds * 1000;

    const started = Promise.withResolvers<string>();
    void session.sandboxes
      .use(workspace.name, async (sandbox) => {
        const watch = createOutputWatch({ patterns, allowance, idleMs, onIdle: () => shell.running.kill() });
        const spec = {
          argv: ['bash', '-c', call.command] as const,
          hasInput: true,
          signal: new AbortController().signal,
        };
        await sandbox.ready?.({ ...spec, signal: context.signal });
        const shell = session.shells.start(sandbox, workspace.name, call.command, spec, watch.observe);
        shell.watch = watch;
        started.resolve(shell.id);
        const how = await shell.ended.then(
          (exit) => (exit.code === null ? `signal=${exit.signal}` : `exit=${exit.code}`),
          (thrown) => `failed: ${thrown.message}`,
        );
        watch.end(how);
      })
      .catch(started.reject);
    const shell_id = await started.promise;
    return {
      text: render(shell_id, call.command, patterns, call.idle_timeout_seconds),
      structured: {
        shell_id,
        error_patterns: patterns.map(({ source }) => source),
        idle_timeout_seconds: call.idle_timeout_seconds,
      },
    };
  },
});

function compileAll(sources: readonly string[], { spend }: TokenBucket): OutputWatchPattern[] {
  if (sources.length > maxPatterns) {
    throw new AppError('E_INVALID_INPUT', `too many error_patterns (${sources.length} > ${maxPatterns})`);
  }
  return sources.map((source, index) => {
    if (source === '') throw new AppError('E_INVALID_INPUT', `error_patterns[${index}] is empty`);
    try {
      return { source, isMatch: compileLinearPattern(source, spend) };
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      const quoted = JSON.stringify(source);
      throw new AppError('E_BAD_PATTERN', `error_patterns[${index}] ${quoted} failed to compile: ${cause.message}`, {
        cause,
      });
    }
  });
}

function render(id: string, command: string, patterns: readonly OutputWatchPattern[], idleSeconds: number): string {
  const patternText = patterns.map(({ source }) => source).join(' | ') || '(none — pattern matching disabled)';
  const idle = idleSeconds === 0 ? '(disabled)' : `${idleSeconds}s`;
  return (
    `shell_id: ${id}\nstarted in background: ${command}\nerror_patterns: ${patternText}\nidle_timeout: ${idle}\n\n` +
    'See what happens with watch_process_events, and what it prints with bash_output.\n'
  );
}
