import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../doctor/host.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { defineCommand, type Terminal } from '../command.ts';
import { openApp } from '../workspace-options.ts';

export const doctor = defineCommand({
  name: 'doctor',
  usage: 'croft doctor [--prove [ID …]] [--json]',
  summary:
    'say what this host can enforce, and what to do about what it cannot; exit code 1 if agents cannot work here',
  options: {
    prove: {
      type: 'boolean',
      summary: 'attempt the escape suite against a real sandbox; exit code 1 if anything got out',
    },
    json: { type: 'boolean', summary: 'print one JSON object instead of text' },
  },
  async run({ values: { prove = false, json = false }, positionals }, terminal) {
    if (positionals.length > 0 && !prove) throw new UsageError(`usage: ${doctor.usage}`);
    // Loaded here, because every other command starts sooner without it.
    const { examine, isReady } = await import('../../doctor/examine.ts');
    const { createThisHost } = await import('../../doctor/this-host.ts');
    const { toTable } = await import('../../doctor/table.ts');

    const examination = await examine(
      createThisHost({ runInside: insideOf(terminal), dockerSocket: terminal.config().dockerSocket }),
    );
    if (!json) terminal.stdout.write(toTable(examination));
    const isOpen = isReady(examination);
    const proof = prove ? await attemptEscapes(isOpen, positionals, terminal, json) : undefined;
    if (json)
      terminal.stdout.write(`${JSON.stringify({ ...examination, ...(proof && { escapes: proof.escapes }) })}\n`);
    return isOpen && (proof?.hasHeld ?? true) ? 0 : 1;
  },
});

async function attemptEscapes(isOpen: boolean, ids: readonly string[], terminal: Terminal, json: boolean) {
  const { stdout, stderr, stop } = terminal;
  if (!isOpen) {
    stderr.write('croft: no escape was attempted: there is no sandbox to get out of\n');
    return { escapes: [], hasHeld: false };
  }
  const { runEscapes } = await import('../../escapes/run.ts');
  const { prove } = await import('../../doctor/proof.ts');
  // Standard output is for the JSON alone, where that was asked for.
  const out = json ? stderr : stdout;
  return prove({ ids, signal: stop, write: (text) => out.write(text), runEscapes });
}

/** Through the same pipeline as any agent's command, in a workspace of its own. */
function insideOf(terminal: Terminal): Host['runInside'] {
  return async (command, network, sandbox) => {
    let place: string | undefined;
    try {
      place = mkdtempSync(join(tmpdir(), 'croft-doctor-'));
      const [workspace, data] = [join(place, 'workspace'), join(place, 'data')];
      mkdirSync(workspace);
      await using app = openApp({ workspace, data, network, ...(sandbox && { sandbox }) }, terminal);
      await using stack = new AsyncDisposableStack();
      const session = stack.adopt(app.newSession('doctor'), (opened) => opened.close());
      const { structured } = await app.toolbox.call('bash', { command }, { session, signal: terminal.stop });
      return { output: String(structured.output) };
    } catch (thrown) {
      if (thrown instanceof UsageError) throw thrown;
      return { reason: allMessages(thrown) };
    } finally {
      if (place !== undefined) rmSync(place, { recursive: true, force: true });
    }
  };
}

/** With what each cause says, a line each. */
function allMessages(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause === undefined ? thrown.message : `${thrown.message}\n${allMessages(thrown.cause)}`;
}
