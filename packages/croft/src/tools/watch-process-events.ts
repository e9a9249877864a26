import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { OutputWatchEvent } from '../core/commands/output-watch.ts';
import { defineTool } from '../core/tools/tool.ts';

export const watchProcessEvents = defineTool({
  name: 'watch_process_events',
  aliases: ['WatchProcessEvents'],
  spellings: { aliases: { bash_id: 'shell_id', id: 'shell_id', since: 'since_event_id' } },
  title: 'Events of a watched command',
  description: 'What happened to a command started with watch_process, after an event id.',
  toolset: 'commands',
  access: 'execute',
  isFollowUp: true,
  reach: 'one',
  input: z.object({
    shell_id: z.string().min(1).describe('From the answer that started the command'),
    since_event_id: z.int().min(0).default(0).describe('Only events after this one'),
  }),
  output: z.object({
    shell_id: z.string(),
    status: z.enum(['running', 'completed', 'failed']),
    dropped: z.int(),
    unexamined: z.int().describe('Lines that no pattern was tried on, because the patterns took too long'),
    events: z.array(z.object({ id: z.int(), at: z.string(), type: z.string(), text: z.string() })),
  }),
  workspaceOf: ({ shell_id }, { shells }) => shells.workspaceOf(shell_id),
  async run({ shell_id, since_event_id }, { session, workspace }) {
    const { watch, command, exit, failure } = session.shells.find(shell_id, workspace.name);
    if (!watch) {
      throw new AppError(
        'E_INVALID_INPUT',
        `shell_id ${shell_id} was not started by watch_process; use bash_output instead`,
      );
    }
    const events = watch.since(since_event_id);
    const status = failure ? ('failed' as const) : exit ? ('completed' as const) : ('running' as const);
    const dropped = watch.dropped();
    const unexamined = watch.unexamined();
    const note = [
      dropped > 0 && `NOTE: ${dropped} earlier events dropped (per-shell cap of 1024 reached)\n`,
      unexamined > 0 &&
        `NOTE: ${unexamined} lines were not looked at, because error_patterns take too long; simplify them\n`,
    ]
      .filter((each) => each !== false)
      .join('');
    const looked = watch.patterns.map(({ source }) => source).join(' | ');
    return {
      text:
        `shell_id: ${shell_id}\ncommand: ${command}\nstatus: ${status}\nerror_patterns: ${looked}\n${note}\n` +
        `--- events (${events.length}) ---\n${events.map(toLine).join('')}`,
      structured: {
        shell_id,
        status,
        dropped,
        unexamined,
        events: events.map((event) => ({ ...event, at: event.at.toISOString() })),
      },
    };
  },
});

function toLine({ id, at, type, text }: OutputWatchEvent): string {
  return `${[`[${id}] ${at.toISOString()}`, type, text].filter((part) => part !== '').join('  ')}\n`;
}
