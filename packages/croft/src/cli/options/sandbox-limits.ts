import type { SandboxLimits } from '../../core/commands/sandbox.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { parseSize } from '../../lib/text/parse-size.ts';
import { UsageError } from '../../lib/usage-error.ts';

interface Limit {
  readonly key: keyof SandboxLimits;
  readonly parse: (text: string) => number | undefined;
  readonly least: number;
  /** Completes the error message "takes …". */
  readonly form: string;
}

const size = { parse: parseSize, least: 1024 ** 2, form: 'a size of 1m or more, such as 512m or 2g' };
const whole = { parse: parseNumber(/^\d{1,9}$/), least: 1, form: 'a whole number of 1 or more' };

const limits: Readonly<Record<string, Limit>> = {
  memory: { key: 'memoryBytes', ...size },
  disk: { key: 'diskBytes', ...size },
  file: { key: 'fileBytes', ...size },
  processes: { key: 'processes', ...whole },
  cpus: { key: 'cpus', parse: parseNumber(/^\d{1,4}(\.\d{1,3})?$/), least: 0.01, form: 'a number such as 2 or 0.5' },
  'open-files': { key: 'openFiles', ...whole },
};

/** Parses `NAME=VALUE` entries. If a name is given twice, the last one counts. */
export function toSandboxLimits(written: readonly string[]): Partial<SandboxLimits> {
  return Object.fromEntries(written.map(toLimit));
}

function toLimit(written: string): [keyof SandboxLimits, number] {
  const [, name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(written) ?? [];
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (!limit) {
    const names = Object.keys(limits).join(', ');
    throw new UsageError(`--limit takes NAME=VALUE, where NAME is one of ${names}; not ${goQuote(written)}`);
  }
  const value = limit.parse(text);
  if (value !== undefined && value >= limit.least) return [limit.key, value];
  throw new UsageError(`--limit ${name} takes ${limit.form}, not ${goQuote(text)}`);
}

function parseNumber(form: RegExp): (text: string) => number | undefined {
  return (text) => (form.test(text) ? Number(text) : undefined);
}
