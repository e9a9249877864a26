import type { Client, Croft } from '@croft/sdk';
import { UsageError } from '../lib/usage-error.ts';
import type { Command, CommandContext, Completion, Options, Values } from './command.ts';
import { keyOptions, openKeyClient, reportingErrors } from './open-client.ts';
import { exitCodes } from './output/exit-codes.ts';

/** The client and the streams of a command that calls a server as one person. */
export interface ClientCall<O extends Options> {
  readonly croft: Croft;
  readonly client: Client;
  readonly baseUrl: string;
  readonly values: Values<O> & Values<typeof keyOptions>;
  readonly words: readonly [string, ...string[]];
  readonly terminal: CommandContext;
}

interface ClientCommandDefinition<O extends Options> {
  readonly name: string;
  /** Everything after the name. */
  readonly usage: string;
  readonly summary?: string;
  readonly examples: readonly string[];
  readonly options: O;
  /** How many words it takes: at least, at most. */
  readonly takes: readonly [number, number];
  readonly words?: readonly Completion[];
  /**
   * The exit code for every failure of Croft, for commands whose other exit codes are those of a program that they run.
   */
  readonly failure?: number;
  /** Its exit code; anything else stands for 0. */
  run(call: ClientCall<O>): Promise<unknown>;
}

/** A command that talks to a server: it has the flags that say which server, and its errors decide its exit code. */
export function defineClientCommand<const O extends Options>(definition: ClientCommandDefinition<O>): Command {
  const { name, takes, failure, run, ...rest } = definition;
  const usage = `croft ${name} ${definition.usage}`.trim();
  const options = { ...definition.options, ...keyOptions };
  return {
    ...{ ...rest, name, usage, options, takesOnlyFlags: takes[1] === 0 },
    run: ({ values, positionals }, terminal) =>
      reportingErrors(
        terminal,
        async () => {
          const [least, most] = takes;
          if (positionals.length < least || positionals.length > most) throw new UsageError(`usage: ${usage}`);
          const given = values as ClientCall<O>['values'];
          const words = positionals as unknown as ClientCall<O>['words'];
          const ended = await run({ ...openKeyClient(given, terminal), values: given, words, terminal });
          return typeof ended === 'number' ? ended : exitCodes.done;
        },
        failure,
      ),
  };
}
