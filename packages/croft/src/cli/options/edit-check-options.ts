import type { PostEditSettings } from '../../core/checks/post-edit/post-edit-checks.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Options, Values } from '../command.ts';

/** The flags for checks that run after each write and edit. */
export const editCheckOptions = {
  'format-on-edit': { type: 'boolean', summary: 'format each file after write and edit, with its own formatter' },
  'edit-check-seconds': {
    type: 'string',
    value: 'N',
    summary: 'how long write and edit wait for the formatter and the linter (5), from 1 to 600',
  },
} as const satisfies Options;

const defaultSeconds = 5;
const maxSeconds = 600;

export function toEditChecks(values: Values<typeof editCheckOptions>): PostEditSettings {
  const written = values['edit-check-seconds'] ?? String(defaultSeconds);
  const seconds = /^\d{1,3}$/.test(written) ? Number(written) : 0;
  if (seconds < 1 || seconds > maxSeconds)
    throw new UsageError(`--edit-check-seconds takes a whole number from 1 to ${maxSeconds}, not ${goQuote(written)}`);
  return { formatOnEdit: values['format-on-edit'] ?? false, timeoutMs: seconds * 1000 };
}
