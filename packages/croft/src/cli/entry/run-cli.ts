import { UsageError } from '../../lib/usage-error.ts';
import { version } from '../../version.ts';
import type { Command, CommandContext } from '../command.ts';
import { commands, loadCommands } from '../commands/index.ts';
import { parseArguments } from '../parse-arguments.ts';

/** Runs a command and returns the exit code. Data goes to standard output, messages go to standard error. */
export async function runCli(argv: readonly string[], terminal: CommandContext): Promise<number> {
  const [name = '', ...rest] = argv;
  if (['-v', '--version', 'version'].includes(name)) return print(terminal, `croft ${version}\n`);
  const command = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
  if (!command) return explain(name, terminal);
  if (rest.includes('--help') || rest.includes('-h')) return print(terminal, describe(command));
  try {
    return await command.run(parseArguments(command, rest), terminal);
  } catch (thrown) {
    if (!(thrown instanceof UsageError)) throw thrown;
    terminal.stderr.write(`${thrown.message}\n`);
    return 1;
  }
}

async function explain(name: string, terminal: CommandContext): Promise<number> {
  const rows = (await loadCommands()).map(toRow);
  const overview = ['croft: workspaces, sandboxes and a fence for coding agents', '', ...rows, ''].join('\n');
  if (['', 'help', '--help', '-h'].includes(name)) return print(terminal, overview);
  terminal.stderr.write(`there is no command ${name}\n\n${overview}`);
  return 1;
}

function toRow({ name, summary }: Command): string {
  return `  croft ${name.padEnd(9)} ${summary}`;
}

function describe({ usage, summary, options }: Command): string {
  const rows = Object.entries(options).map(([flag, { value = '', summary: about }]) => {
    return `  ${`--${flag} ${value}`.padEnd(26)} ${about}`;
  });
  return [usage, '', `  ${summary}`, '', ...rows, ''].join('\n');
}

function print({ stdout }: CommandContext, text: string): number {
  stdout.write(text);
  return 0;
}
