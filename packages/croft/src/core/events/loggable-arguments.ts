import type { Redact } from '../../lib/redaction/redact.ts';
import { summarizeArguments } from './emitter.ts';

/**
 * Returns the arguments of a call in a form that is safe to log: short, without secrets and without contents of files.
 */
export function toLoggableArguments(input: unknown, redact: Redact): Record<string, unknown> {
  return summarizeArguments(input, redact);
}
