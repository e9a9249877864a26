import { UsageError } from '../../lib/usage-error.ts';
import { version } from '../../version.ts';
import type { Command, CommandContext } from '../command.ts';
import { commands, type ListedCommand } from '../commands/index.ts';
import { parseArguments } from '../parse-arguments.ts';

/** Runs a command and returns the exit code. Data goes to standard output, messages go to standard error. */
export async function runCli(argv: readonly string[], terminal: CommandContext): Promise<number> {
  const [name = '', ...rest] = argv;
  if (['-v', '--version', 'version'].includes(name)) return print(terminal, `croft ${version}\n`);
  const listed = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!listed) return explain(name, terminal);
  const command = await listed.load();
  if (rest.includes('--help') || rest.includes('-h')) return print(terminal, describe(command, listed));
  try {
    return await command.run(parseArguments(command, rest), terminal);
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    terminal.stderr.write(`${thrown.message}\n`);
    return 1;
  }
}

function explain(name: string, terminal: CommandContext): number {
  const rows = Object.entries(commands).map(([name, { summary }]) => `  croft ${name.padEnd(9)} ${summary}`);
  const overview = ['croft: workspaces, sandboxes and a fence for coding agents', '', ...rows, ''].join('\n');
  if (['', 'help', '--help', '-h'].includes(name)) return print(terminal, overview);
  terminal.stderr.write(`there is no command ${name}\n\n${overview}`);
  return 1;
}

function describe({ usage, options }: Command, { summary }: ListedCommand): string {
  const rows = Object.entries(options).map(([flag, { value = '', summary: about }]) => {
    return `  ${`--${flag} ${value}`.padEnd(26)} ${about}`;
  });
  return [usage, '', `  ${summary}`, '', ...rows, ''].join('\n');
}

function print({ stdout }: CommandContext, text: string): number {
  stdout.write(text);
  return 0;
}
