import { errorCatalog } from '@croft/protocol';
import { generatedNote } from './markdown-table.ts';

const intro = `Every failed call answers one of these errors: a code that never changes, a message that says what happened, and a
hint that says what to do next. Over MCP the error is in the text of the answer and in \`_meta["croft/error"]\`. Over REST it is
\`error\` of the body, with the status below. The command line prints it on standard error, and \`--json\` prints it as JSON.`;

type Entry = [string, (typeof errorCatalog)[keyof typeof errorCatalog]];

/** The catalogue of errors by their status over REST. Each has a heading, so that a link can lead to it. */
export function toErrorsPage(): string {
  const entries = Object.entries(errorCatalog).toSorted(([one], [other]) => (one < other ? -1 : 1)) as Entry[];
  const groups = [...Map.groupBy(entries, ([, { status }]) => status)].toSorted(([one], [other]) => one - other);
  const sections = groups.map(([status, listed]) => `## Status ${status}\n\n${listed.map(toSection).join('\n')}`);
  return [generatedNote, '# Errors\n', `${intro}\n`, ...sections].join('\n');
}

function toSection([code, { kind, hint }]: Entry): string {
  return `### ${code}\n\n${hint} Kind: \`${kind}\`.\n`;
}
