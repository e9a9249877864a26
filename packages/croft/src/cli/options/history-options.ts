import { defaultHistoryLimits, type HistoryLimits } from '../../app/workspaces/history-limits.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { parseSize } from '../../lib/text/parse-size.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Options, Values } from '../command.ts';

/** The flags of every command that stores histories. */
export const historyOptions = {
  'history-max-bytes': {
    type: 'string',
    value: 'SIZE',
    summary: 'what the history of one workspace may take (2g): the oldest of it goes first',
  },
  'history-min-free': {
    type: 'string',
    value: 'SIZE',
    summary: 'with less than this free on the disk of the histories (512m) nothing more is kept in them',
  },
} as const satisfies Options;

export function toHistoryLimits(values: Values<typeof historyOptions>): HistoryLimits {
  const size = (flag: keyof typeof historyOptions, otherwise: number) => {
    const written = values[flag];
    const bytes = written === undefined ? otherwise : parseSize(written);
    if (bytes !== undefined) return bytes;
    throw new UsageError(`--${flag} takes a size such as 512m or 2g, not ${goQuote(written ?? '')}`);
  };
  return {
    maxBytes: size('history-max-bytes', defaultHistoryLimits.maxBytes),
    minFreeBytes: size('history-min-free', defaultHistoryLimits.minFreeBytes),
  };
}
