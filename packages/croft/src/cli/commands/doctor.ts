import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../../doctor/host.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../../lib/files/temporary-directory.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { openApp } from '../options/workspace-options.ts';

export const doctor = defineCommand({
  name: 'doctor',
  usage: 'croft doctor [--fix] [--prove [ID …]] [--json]',
  examples: ['croft doctor', 'croft doctor --prove'],
  options: {
    fix: {
      type: 'boolean',
      summary: 'first compile the native files, where their package is missing and a C compiler is there',
    },
    prove: {
      type: 'boolean',
      summary: 'attempt the escape suite against a real sandbox; exit code 1 if anything got out',
    },
    json: { type: 'boolean', summary: 'print one JSON object instead of text' },
  },
  async run({ values: { fix = false, prove = false, json = false }, positionals }, terminal) {
    if (positionals.length > 0 && !prove) throw new UsageError(`usage: ${doctor.usage}`);
    // Loaded here, because every other command starts sooner without it.
    if (fix)
      terminal.stderr.write(
        `croft: ${await (await import('../../doctor/compile-missing-native-files.ts')).compileMissingNativeFiles()}\n`,
      );
    const { examineHost, isReady } = await import('../../doctor/examine-host.ts');
    const { createThisHost } = await import('../../doctor/this-host.ts');
    const { renderTable } = await import('../../doctor/render-table.ts');

    const examination = await examineHost(
      createThisHost({ runInSandbox: runInsideOf(terminal), dockerSocket: terminal.config().dockerSocket }),
    );
    if (!json) terminal.stdout.write(renderTable(examination));
    const isOpen = isReady(examination);
    const proof = prove ? await attemptEscapes(isOpen, positionals, terminal, json) : undefined;
    const { groups, escapes } = proof ?? {};
    if (json) terminal.stdout.write(`${JSON.stringify({ ...examination, ...(proof && { groups, escapes }) })}\n`);
    return isOpen && (proof?.hasHeld ?? true) ? 0 : 1;
  },
});

async function attemptEscapes(isOpen: boolean, ids: readonly string[], terminal: CommandContext, json: boolean) {
  const { stdout, stderr, stop } = terminal;
  if (!isOpen) {
    stderr.write('croft: no escape was attempted: there is no sandbox to get out of\n');
    return { groups: [], escapes: [], hasHeld: false };
  }
  const { runEscapes } = await import('../../escapes/run-escapes.ts');
  const { proveEscapesFail } = await import('../../doctor/prove-escapes-fail.ts');
  // With `--json`, standard output has nothing but the JSON.
  const out = json ? stderr : stdout;
  return proveEscapesFail({ ids, signal: stop, write: (text) => out.write(text), runEscapes });
}

/** Runs a command through the same pipeline as any agent's command, in a temporary workspace. */
function runInsideOf(terminal: CommandContext): Host['runInSandbox'] {
  return async (command, network, sandbox) => {
    let directory: string | undefined;
    try {
      directory = makeTemporaryDirectory('doctor');
      const [workspace, data] = [join(directory, 'workspace'), join(directory, 'data')];
      mkdirSync(workspace);
      await using app = await openApp({ workspace, data, network, ...(sandbox && { sandbox }) }, terminal);
      await using stack = new AsyncDisposableStack();
      const session = stack.adopt(app.newSession('doctor'), (opened) => opened.close());
      const { structured } = await app.toolbox.call('bash', { command }, { session, signal: terminal.stop });
      return { output: String(structured.output) };
    } catch (thrown) {
      if (thrown instanceof UsageError) throw thrown;
      return { reason: allMessages(thrown) };
    } finally {
      if (directory !== undefined) removeTemporaryDirectory(directory);
    }
  };
}

/** The message of an error and of each of its causes, one line each. */
function allMessages(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause === undefined ? thrown.message : `${thrown.message}\n${allMessages(thrown.cause)}`;
}
