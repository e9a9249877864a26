import type { Readable, Writable } from 'node:stream';
import type { Config } from '../config.ts';

/** A flag as `parseArgs` takes it and as the documentation shows it. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  /** The flag may be given only once. For other flags the last one counts. */
  readonly once?: boolean;
  /** One letter, as in `-q`. */
  readonly short?: string;
  /** The placeholder of the value in the help text. */
  readonly value?: string;
  readonly summary: string;
  /** Possible values of the flag, for completion. */
  readonly completes?: Completion;
}

/** Records and other things that have a name on the server or here, for completion. */
export type NameKind =
  | 'accounts'
  | 'agents'
  | 'approvals'
  | 'contexts'
  | 'forks'
  | 'keys'
  | 'runners'
  | 'sandboxes'
  | 'secrets'
  | 'sessions'
  | 'snapshots'
  | 'workspaces';

/** Possible values of one word of a command: names of records, fixed words, or paths here or in a workspace. */
export type Completion = NameKind | readonly string[] | 'file' | 'location';

export type Options = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O['multiple'] extends true ? string[] : O['type'] extends 'boolean' ? boolean : string;

export type Values<O extends Options> = { readonly [Name in keyof O]?: ValueOf<O[Name]> };

/** Everything a command gets from its process: configuration, streams and signals. */
export interface CommandContext {
  /** Throws if a setting is invalid. */
  readonly config: () => Config;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Aborts when the program is asked to stop. */
  readonly stop: AbortSignal;
  /**
   * Calls `listener` at each SIGHUP, which then does not stop the program. The end of the terminal in which the program
   * was started still stops it.
   */
  onHangUp(listener: () => void): Disposable;
}

export interface Invocation<Given> {
  readonly values: Given;
  readonly positionals: readonly string[];
}

interface CommandDefinition<O extends Options> {
  readonly name: string;
  readonly usage: string;
  /** Whole command lines, for the help and the documentation. */
  readonly examples: readonly string[];
  /** One line for the help, if the command is one verb of several. */
  readonly summary?: string;
  readonly options: O;
  /** Possible values of each word, for completion. The last entry holds for all further words. */
  readonly words?: readonly Completion[];
  /**
   * A word without a flag is a mistake: for example a directory, which would be ignored in favour of the current one.
   */
  readonly takesOnlyFlags?: boolean;
  /** Returns the exit code. */
  run(invocation: Invocation<Values<O>>, terminal: CommandContext): Promise<number>;
}

/** A command without its type parameter, so that a table can hold all commands. */
export interface Command extends Omit<CommandDefinition<Options>, 'run'> {
  run(invocation: Invocation<Record<string, unknown>>, terminal: CommandContext): Promise<number>;
}

export function defineCommand<const O extends Options>(definition: CommandDefinition<O>): Command {
  return {
    ...definition,
    // `parseArgs` gave the values the types that `options` declares.
    run: (invocation, terminal) => definition.run(invocation as Invocation<Values<O>>, terminal),
  };
}

/** A noun with a command for each of its verbs: `croft workspaces list`. */
export interface CommandGroup {
  readonly name: string;
  /** The usage of every verb, a line each. */
  readonly usage: string;
  readonly examples: readonly string[];
  /** The flags of all verbs together, for documentation. */
  readonly options: Options;
  readonly verbs: Readonly<Record<string, Command>>;
}

export type AnyCommand = Command | CommandGroup;

export function defineGroup(name: string, verbs: Readonly<Record<string, Command>>): CommandGroup {
  const all = Object.values(verbs);
  return {
    name,
    verbs,
    usage: all.map(({ usage }) => usage).join('\n'),
    examples: all.flatMap(({ examples }) => examples),
    options: Object.assign({}, ...all.map(({ options }) => options)),
  };
}
