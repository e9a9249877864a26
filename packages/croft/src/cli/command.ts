import type { Readable, Writable } from 'node:stream';
import type { Config } from '../config.ts';

/** A flag as `parseArgs` takes it, and as the documentation shows it. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** Refused when it is given again; of other flags the last counts. */
  readonly once?: boolean;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly summary: string;
}

export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O['multiple'] extends true ? string[] : O['type'] extends 'boolean' ? boolean : string;

export type Values<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> };

/** The world outside, as a command sees it. */
export interface Terminal {
  /** Throws for a setting that is not valid. */
  readonly config: () => Config;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Aborts when the program is asked to stop. */
  readonly stop: AbortSignal;
}

export interface Invocation<Given> {
  readonly values: Given;
  readonly positionals: readonly string[];
}

export interface CommandDefinition<O extends Options> {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly options: O;
  /** A word without a flag is a mistake: a directory, say, that would be passed over for the current one. */
  readonly takesOnlyFlags?: boolean;
  /** Answers the exit code. */
  run(invocation: Invocation<Values<O>>, terminal: Terminal): Promise<number>;
}

/** A command with its types closed over, so that a table can hold many. */
export interface Command extends Omit<CommandDefinition<Options>, 'run'> {
  run(invocation: Invocation<Record<string, unknown>>, terminal: Terminal): Promise<number>;
}

export function defineCommand<const O extends Options>(definition: CommandDefinition<O>): Command {
  return {
    ...definition,
    // `parseArgs` gave the values the types that `options` says.
    run: (invocation, terminal) => definition.run(invocation as Invocation<Values<O>>, terminal),
  };
}
