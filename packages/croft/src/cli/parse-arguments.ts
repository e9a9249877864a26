import { parseArgs } from 'node:util';
import { findNearest } from '../core/arguments/nearest-name.ts';
import { UsageError } from '../lib/usage-error.ts';
import type { Command, Invocation, Option, Options } from './command.ts';

/**
 * Parses flags by the command's own table. Accepts `-flag`, `--flag` and `--switch=true`, as older systems write them.
 * Everything after `--` is taken as it is.
 */
export function parseArguments(
  { options, name, takesOnlyFlags = false }: Command,
  argv: readonly string[],
): Invocation<Record<string, unknown>> {
  try {
    const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
    const { values, positionals, tokens } = parseArgs({
      args: [...argv.slice(0, end).map((argument) => normalize(argument, options)), ...argv.slice(end)],
      options: Object.fromEntries(Object.entries(options).map(([flag, option]) => [flag, toParseOption(option)])),
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
    throw new UsageError(`${toReason(thrown, Object.keys(options))}; see: croft ${name} --help`);
  }
}

function toParseOption({ type, multiple = false, short }: Option) {
  return { type, multiple, ...(short !== undefined && { short }) };
}

/** The first sentence of the parser. For an unknown flag, the nearest one that exists. */
function toReason(thrown: unknown, flags: readonly string[]): string {
  const reason = thrown instanceof Error ? (thrown.message.split('. ')[0] ?? '') : String(thrown);
  const [, unknown] = /^Unknown option '--?([^']+)'/.exec(reason) ?? [];
  const nearest = unknown === undefined ? undefined : findNearest(unknown, flags);
  return nearest === undefined ? reason : `${reason}; the nearest is --${nearest}`;
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
