import type { CommandContext, NameKind, Options, Values } from '../command.ts';
import type { RecordColumns } from '../output/print-rows.ts';
import type { Kind } from './find-record.ts';

type Given = Readonly<Record<string, unknown>>;

/** The answer of a change: the body of REST, the id of the record, and a secret that is shown this once. */
export interface Made {
  readonly answer: object;
  readonly id: string;
  readonly secret?: { readonly value: string; readonly about: string };
}

interface CreationDefinition<Reach, O extends Options> {
  /** Everything after `croft NOUN create`. */
  readonly usage: string;
  /** Whether the first word is the name of the record. Otherwise the server chooses one. */
  readonly isNamed: boolean;
  readonly options: O;
  readonly examples: readonly string[];
  run(client: Reach, name: string, values: Values<O>, terminal: CommandContext): Promise<Made>;
}

/** How a noun makes a record, without the types of its flags. */
interface Creation<Reach> extends Omit<CreationDefinition<Reach, Options>, 'run'> {
  run(client: Reach, name: string, values: Given, terminal: CommandContext): Promise<Made>;
}

export function defineCreation<Reach, const O extends Options>(
  definition: CreationDefinition<Reach, O>,
): Creation<Reach> {
  // `parseArgs` gave the values the types that `options` declares.
  return {
    ...definition,
    run: (client, name, values, terminal) => definition.run(client, name, values as Values<O>, terminal),
  };
}

interface EditDefinition<Reach, Row, O extends Options> {
  /** Everything after `croft NOUN edit NAME`. */
  readonly usage: string;
  readonly options: O;
  readonly examples: readonly string[];
  /** Returns the body of REST. */
  run(client: Reach, row: Row, values: Values<O>): Promise<object>;
}

/** The change of a record by the verb `edit`, without the types of its flags. */
export interface RecordEdit<Reach, Row> extends Omit<EditDefinition<Reach, Row, Options>, 'run'> {
  run(client: Reach, row: Row, values: Given): Promise<object>;
}

export function defineEdit<Reach, Row, const O extends Options>(
  definition: EditDefinition<Reach, Row, O>,
): RecordEdit<Reach, Row> {
  // `parseArgs` gave the values the types that `options` declares.
  return { ...definition, run: (client, row, values) => definition.run(client, row, values as Values<O>) };
}

/**
 * One noun of the command line, with everything that is special about it: columns, flags and calls of `croft
 * workspaces` or `croft keys`.
 */
export interface Noun<Reach, Row> extends Kind<Row> {
  /** The last part of the list's address in REST: `workspaces`. */
  readonly name: NameKind;
  /** A name, for the examples of the help. */
  readonly example: string;
  readonly columns: RecordColumns<Row>;
  /** Flags of every verb of this noun. */
  readonly options: Options;
  open(values: Given, terminal: CommandContext): Reach;
  list(client: Reach, values: Given): Promise<readonly Row[]>;
  readonly create: Creation<Reach>;
  readonly edit?: RecordEdit<Reach, Row>;
  remove(client: Reach, row: Row, values: Given): Promise<void>;
  /** Replaces the secret of a record. */
  rotate?(client: Reach, row: Row): Promise<Made>;
  /** Other words for a verb, which scripts use. */
  readonly aliases?: Readonly<Record<string, 'delete'>>;
}
