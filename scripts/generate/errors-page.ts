import { errorCatalog } from '@croft/protocol';
import { generatedNote, table } from './markdown.ts';

const intro = `Every failed call answers one of these errors: a code that never changes, a message that says what happened, and a
hint that says what to do next. Over MCP the error is in the text of the answer and in \`_meta["croft/error"]\`. Over REST it is
\`error\` of the body, with the status below. The command line prints it on standard error, and \`--json\` prints it as JSON.`;

/** The catalogue of errors, in alphabetical order. */
export function toErrorsPage(): string {
  const rows = Object.entries(errorCatalog)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([code, { kind, status, hint }]) => [`\`${code}\``, String(status), `\`${kind}\``, hint]);
  return [generatedNote, '# Errors\n', `${intro}\n`, table(['code', 'status', 'kind', 'what to do next'], rows)].join(
    '\n',
  );
}
