import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { denialList, renderDenials } from '../core/commands/denials.ts';
import type { Shell } from '../core/commands/shells.ts';
import { defineTool } from '../core/tool.ts';
import { compilePattern } from '../lib/text/linear-pattern.ts';
import { stripControl } from '../lib/text/strip-control.ts';

export const bashOutput = defineTool({
  name: 'bash_output',
  aliases: ['BashOutput'],
  title: 'Output of a background command',
  description:
    'What a background command has printed, from a cursor on: pass back the cursor of the last answer to get only what is ' +
    'new. Of very much output the first and the last is kept.',
  access: 'execute',
  isFollowUp: true,
  reach: 'one',
  input: z.object({
    shell_id: z.string().min(1).describe('From the answer that started the command'),
    cursor: z.int().min(0).default(0).describe('Where to go on, from the last answer; 0 for all of it'),
    filter: z.string().optional().describe('Only lines that match this regular expression'),
  }),
  output: z.object({
    command: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    output: z.string(),
    cursor: z.int(),
    missed: z.int().describe('Bytes that are no longer kept'),
    denials: denialList,
  }),
  async run({ shell_id, cursor, filter }, { session, workspace, secrets }) {
    const shell = session.shells.find(shell_id, workspace.name);
    const part = shell.all.textSince(cursor, { final: isOver(shell) });
    const clean = stripControl(part.text);
    const output = filter === undefined ? clean : keepLines(clean, filter);
    const denials = session.shells.takeDenials(shell, secrets.redact);
    const structured = {
      command: shell.command,
      status: statusOf(shell),
      exitCode: shell.exit?.code ?? null,
      signal: shell.exit?.signal ?? null,
      output,
      cursor: part.cursor,
      missed: part.missed,
      denials,
    };
    const end = output === '' || output.endsWith('\n') || denials.length === 0 ? '' : '\n';
    return { text: `${render(shell, structured)}${end}${renderDenials(denials)}`, structured, denials };
  },
});

function render(shell: Shell, { output, cursor, missed }: { output: string; cursor: number; missed: number }): string {
  const gap = missed > 0 ? ` [${missed} bytes dropped]` : '';
  const head = `command: ${shell.command}\nstatus: ${describeStatus(shell)}\nstarted: ${shell.startedOn.toISOString()}\n`;
  return `${head}cursor: ${cursor}\n\n--- output${gap} ---\n${output}`;
}

function describeStatus(shell: Shell): string {
  if (shell.failure) return `failed (${shell.failure.message})`;
  if (!shell.exit) return 'running';
  return shell.exit.code === null ? `completed (${shell.exit.signal})` : `completed (exit ${shell.exit.code})`;
}

function statusOf(shell: Shell): 'running' | 'completed' | 'failed' {
  if (shell.failure) return 'failed';
  return shell.exit ? 'completed' : 'running';
}

function isOver({ exit, failure }: Shell): boolean {
  return exit !== undefined || failure !== undefined;
}

function keepLines(text: string, filter: string): string {
  try {
    const isMatch = compilePattern(filter);
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines
      .filter(isMatch)
      .map((line) => `${line}\n`)
      .join('');
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('E_BAD_PATTERN', `filter ${JSON.stringify(filter)}: ${cause.message}`, { cause });
  }
}
