import { lifecycleEvents } from '@croft/protocol';
import { generatedNote, table } from './markdown-table.ts';

const intro = `\`--events FILE\` of \`croft serve\`, \`croft mcp\` and \`croft tool\` appends one line of JSON for each event:

\`\`\`json
{ "event": "lifecycle.start", "sequence": 1, "ts": "2026-01-31T12:00:00.000Z", "fields": { "workspaces": ["demo"] } }
\`\`\`

\`sequence\` counts from 1 in each process. Events contain no content of files, no output of commands and no secret. How to
rotate the file: [operations](operations.md#events-and-how-to-rotate-them). The stream of an account for programs and pages is
another one: [events of an account](page-routes.md#events).`;

/** The events of `--events`. */
export function toEventsPage(): string {
  const rows = Object.entries(lifecycleEvents).map(([name, { about, fields }]) => [
    `\`${name}\``,
    about,
    fields.map((field) => `\`${field}\``).join(' '),
  ]);
  return [generatedNote, '# Events\n', `${intro}\n`, table(['event', 'says', 'fields'], rows)].join('\n');
}
