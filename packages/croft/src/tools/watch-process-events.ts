import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { WatchEvent } from '../core/commands/watch.ts';
import { defineTool } from '../core/tool.ts';

export const watchProcessEvents = defineTool({
  name: 'watch_process_events',
  aliases: ['WatchProcessEvents'],
  title: 'Events of a watched command',
  description: 'What happened to a command started with watch_process, after an event id.',
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
    events: z.array(z.object({ id: z.int(), at: z.string(), type: z.string(), text: z.string() })),
  }),
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
    const note = dropped > 0 ? `NOTE: ${dropped} earlier events dropped (per-shell cap of 1024 reached)\n` : '';
    const looked = watch.patterns.map(({ source }) => source).join(' | ');
    return {
      text:
        `shell_id: ${shell_id}\ncommand: ${command}\nstatus: ${status}\nerror_patterns: ${looked}\n${note}\n` +
        `--- events (${events.length}) ---\n${events.map(toLine).join('')}`,
      structured: {
        shell_id,
        status,
        dropped,
        events: events.map((event) => ({ ...event, at: event.at.toISOString() })),
      },
    };
  },
});

function toLine({ id, at, type, text }: WatchEvent): string {
  return `${[`[${id}] ${at.toISOString()}`, type, text].filter((part) => part !== '').join('  ')}\n`;
}
