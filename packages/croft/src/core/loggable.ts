import { type Redact, redactDeep } from '../lib/redact.ts';
import { summarize } from './events.ts';

/** Far more than is kept of a value, so that a secret in it is whole when it is looked for. */
const maxLength = 20_000;

/** What a caller sent, fit for a log: without secrets, and only then cut short. */
export function toLoggable(input: unknown, redact: Redact): Record<string, unknown> {
  try {
    return summarize(redactDeep(cutEach(input), redact));
  } catch (thrown) {
    // Nested too deep to be written down. Whether a call runs is not for its record to decide.
    if (thrown instanceof RangeError) return {};
    throw thrown;
  }
}

/** Whole files are not looked through for the sake of a line in a log. */
function cutEach(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const cut = (value: unknown) => (typeof value === 'string' ? value.slice(0, maxLength) : value);
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [name, cut(value)]));
}
