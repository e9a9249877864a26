import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { BackgroundCommand } from '../core/commands/background-commands.ts';
import { denialList, renderDenials } from '../core/commands/denials/sandbox-denials.ts';
import { lastLinesCursor, readOutputPage } from '../core/commands/read-output-page.ts';
import { defineTool } from '../core/tools/tool.ts';
import { filterInTurns } from '../lib/concurrency/turns.ts';
import { cutText } from '../lib/text/cut-text.ts';
import { compileLinearPattern } from '../lib/text/patterns/linear-pattern.ts';

/** Cuts long commands: the command is shown only to tell shells apart. */
const maxCommandLength = 1000;

export const bashOutput = defineTool({
  name: 'bash_output',
  aliases: ['BashOutput'],
  spellings: { aliases: { bash_id: 'shell_id', id: 'shell_id' } },
  title: 'Output of a background command',
  description:
    'The output of a background command from a cursor on, up to 36 kB at a time: pass back the cursor of the last answer ' +
    'to go on. Of more than a megabyte the first and the last part is kept.',
  toolset: 'commands',
  isEveryday: true,
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
    remaining: z.int().describe('Bytes printed so far that come after the cursor'),
    denials: denialList,
  }),
  workspaceOf: ({ shell_id }, { shells }) => shells.workspaceOf(shell_id),
  async run({ shell_id, cursor, filter }, { session, workspace, secrets, reportDenials }) {
    const shell = session.shells.find(shell_id, workspace.name);
    const page = await readOutputPage(shell.all, { cursor, final: isOver(shell), filter: toFilter(filter) });
    const denials = session.shells.takeDenials(shell, secrets.redact);
    reportDenials(denials, { areShown: true });
    const structured = {
      command: cutText(shell.command, maxCommandLength),
      status: statusOf(shell),
      exitCode: shell.exit?.code ?? null,
      signal: shell.exit?.signal ?? null,
      output: page.text,
      cursor: page.cursor,
      missed: page.missed,
      remaining: shell.all.total - page.cursor,
      denials,
    };
    const notes = noteOfRest(shell, structured) + renderDenials(denials);
    const end = page.text === '' || page.text.endsWith('\n') || notes === '' ? '' : '\n';
    return { text: `${render(shell, structured)}${end}${notes}`, structured };
  },
});

interface ShownPage {
  readonly command: string;
  readonly output: string;
  readonly cursor: number;
  readonly missed: number;
  readonly remaining: number;
}

function render(shell: BackgroundCommand, { command, output, cursor, missed }: ShownPage): string {
  const gap = missed > 0 ? ` [${missed} bytes dropped]` : '';
  const head = `command: ${command}\nstatus: ${describeStatus(shell)}\nstarted: ${shell.startedOn.toISOString()}\n`;
  return `${head}cursor: ${cursor}\n\n--- output${gap} ---\n${output}`;
}

/** Names the bytes left to read. Fewer than 4 bytes are not reported: they may be half of a character. */
function noteOfRest({ all }: BackgroundCommand, { cursor, remaining }: ShownPage): string {
  if (remaining < 4) return '';
  const last = lastLinesCursor(all);
  const end = last > cursor ? `, or see the end with cursor: ${last}` : '';
  return `(${remaining} bytes more; read on with cursor: ${cursor}${end})\n`;
}

function describeStatus(shell: BackgroundCommand): string {
  if (shell.failure) return `failed (${shell.failure.message})`;
  if (!shell.exit) return 'running';
  return shell.exit.code === null ? `completed (${shell.exit.signal})` : `completed (exit ${shell.exit.code})`;
}

function statusOf(shell: BackgroundCommand): 'running' | 'completed' | 'failed' {
  if (shell.failure) return 'failed';
  return shell.exit ? 'completed' : 'running';
}

function isOver({ exit, failure }: BackgroundCommand): boolean {
  return exit !== undefined || failure !== undefined;
}

/** Without a filter, every line is kept. */
function toFilter(filter: string | undefined): (text: string) => Promise<string> {
  if (filter === undefined) return async (text) => text;
  const isMatch = compileFilter(filter);
  return async (text) => {
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    const matching = await filterInTurns(lines, isMatch);
    return matching.map((line) => `${line}\n`).join('');
  };
}

function compileFilter(filter: string): (line: string) => boolean {
  try {
    return compileLinearPattern(filter);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('E_BAD_PATTERN', `filter ${JSON.stringify(filter)}: ${cause.message}`, { cause });
  }
}
