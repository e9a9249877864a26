import { parseArgs } from 'node:util';
import { UsageError } from '../lib/usage-error.ts';
import type { Command, Invocation, Options } from './command.ts';

/** Reads flags by the command's own table. Takes `-flag`, `--flag` and `--switch=true` as older systems spell them. */
export function parseArguments(
  { options, name, takesOnlyFlags = false }: Command,
  argv: readonly string[],
): Invocation<Record<string, unknown>> {
  try {
    const { values, positionals } = parseArgs({
      args: argv.flatMap((argument) => normalize(argument, options)),
      options: Object.fromEntries(
        Object.entries(options).map(([flag, { type, multiple = false }]) => [flag, { type, multiple }]),
      ),
      allowPositionals: !takesOnlyFlags,
    });
    return { values, positionals };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.split('. ')[0] : String(thrown);
    throw new UsageError(`${reason}; see: croft ${name} --help`);
  }
}

function normalize(argument: string, options: Options): string[] {
  const [, flag = '', value] = /^--?([a-z][a-z-]+)(?:=(.*))?$/s.exec(argument) ?? [];
  const option = options[flag];
  if (!option) return [argument];
  if (option.type === 'boolean' && value !== undefined) return value === 'false' ? [] : [`--${flag}`];
  return [value === undefined ? `--${flag}` : `--${flag}=${value}`];
}
