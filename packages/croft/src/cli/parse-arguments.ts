import { parseArgs } from 'node:util';
import { UsageError } from '../lib/usage-error.ts';
import type { Command, Invocation, Options } from './command.ts';

/**
 * Parses flags by the command's own table. Accepts `-flag`, `--flag` and `--switch=true`, as older systems write them.
 */
export function parseArguments(
  { options, name, takesOnlyFlags = false }: Command,
  argv: readonly string[],
): Invocation<Record<string, unknown>> {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: argv.map((argument) => normalize(argument, options)),
      options: Object.fromEntries(
        Object.entries(options).map(([flag, { type, multiple = false }]) => [flag, { type, multiple }]),
      ),
      allowPositionals: !takesOnlyFlags,
      allowNegative: true,
      tokens: true,
    });
    mustBeOnce(
      tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
      options,
    );
    return { values, positionals };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.split('. ')[0] : String(thrown);
    throw new UsageError(`${reason}; see: croft ${name} --help`);
  }
}

/** Rejects a repeated flag that may be given only once: otherwise the last one would silently replace the first. */
function mustBeOnce(given: readonly string[], options: Options): void {
  const twice = given.find((flag, index) => options[flag]?.once && given.indexOf(flag) !== index);
  if (twice !== undefined) throw new Error(`--${twice} is given more than once`);
}

function normalize(argument: string, options: Options): string {
  const [, flag = '', value] = /^--?([a-z][a-z-]+)(?:=(.*))?$/s.exec(argument) ?? [];
  const option = options[flag];
  if (!option) return argument;
  if (value === undefined) return `--${flag}`;
  return option.type === 'boolean' ? toSwitch(flag, value) : `--${flag}=${value}`;
}

/** Accepts the boolean words of Go. Any other word could turn on what the user meant to turn off. */
function toSwitch(flag: string, value: string): string {
  if (/^(?:1|t|true)$/i.test(value)) return `--${flag}`;
  if (/^(?:0|f|false)$/i.test(value)) return `--no-${flag}`;
  throw new Error(`--${flag} takes true or false, not ${value || 'nothing'}`);
}
