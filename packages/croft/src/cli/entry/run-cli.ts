import { findNearest } from '../../core/arguments/nearest-name.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { version } from '../../version.ts';
import type { AnyCommand, Command, CommandContext } from '../command.ts';
import { commands, type ListedCommand } from '../commands/index.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { parseArguments } from '../parse-arguments.ts';
import { describe, overview } from './render-help.ts';
import { requireLinux } from './require-linux.ts';

/** Adds the command that shells call for completion, which `croft help` does not show. */
const all: Readonly<Record<string, ListedCommand>> = {
  ...commands,
  __complete: {
    summary: 'what could come next on a command line, for the scripts of croft completion',
    load: async () => (await import('../commands/complete.ts')).complete,
  },
};

/** Runs a command and returns the exit code. Data goes to standard output, messages go to standard error. */
export async function runCli(argv: readonly string[], terminal: CommandContext): Promise<number> {
  const [name = '', ...rest] = argv;
  if (['-v', '--version', 'version'].includes(name)) return print(terminal, `croft ${version}\n`);
  const listed = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!listed) return explain(name, terminal);
  const loaded = await listed.load();
  try {
    const { command, given } = chooseVerb(loaded, rest);
    if (asksForHelp(given)) return print(terminal, describe(command ?? loaded, command?.summary ?? listed.summary));
    if (!command) throw new UsageError(`say which: ${verbsOf(loaded)}; see: croft ${name} --help`);
    requireLinux(name);
    return await command.run(parseArguments(command, given), terminal);
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    terminal.stderr.write(`${thrown.message}\n`);
    return exitCodes.usage;
  }
}

function asksForHelp(given: readonly string[]): boolean {
  const end = given.includes('--') ? given.indexOf('--') : given.length;
  return given.slice(0, end).some((word) => word === '--help' || word === '-h');
}

/** Finds the command of a verb. A noun without a verb lists, if it can; `croft workspaces --help` is of the noun. */
function chooseVerb(loaded: AnyCommand, rest: readonly string[]): { command?: Command; given: readonly string[] } {
  if (!('verbs' in loaded)) return { command: loaded, given: rest };
  const [verb = '', ...given] = rest;
  const { verbs } = loaded;
  if (Object.hasOwn(verbs, verb)) return { command: verbs[verb] as Command, given };
  if (verb !== '' && !verb.startsWith('-')) {
    const nearest = findNearest(verb, Object.keys(verbs));
    const words = `croft ${loaded.name} has no ${verb}, the nearest is ${nearest}; it has: ${verbsOf(loaded)}`;
    throw new UsageError(`${words}; see: croft ${loaded.name} --help`);
  }
  return verbs.list && !asksForHelp(rest) ? { command: verbs.list, given: rest } : { given: rest };
}

function verbsOf(loaded: AnyCommand): string {
  return 'verbs' in loaded ? Object.keys(loaded.verbs).join(', ') : '';
}

function explain(name: string, terminal: CommandContext): number {
  if (['', 'help', '--help', '-h'].includes(name)) return print(terminal, overview());
  const nearest = findNearest(name, Object.keys(commands));
  terminal.stderr.write(`there is no command ${name}; the nearest is ${nearest}\n\n${overview()}`);
  return exitCodes.usage;
}

function print({ stdout }: CommandContext, text: string): number {
  stdout.write(text);
  return exitCodes.done;
}
