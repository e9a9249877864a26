import { AppError } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';

export interface Kind<Row> {
  /** The noun in the singular, for messages: `workspace`. */
  readonly one: string;
  /** The command that lists them, unless that is the word for several: `workspaces`. */
  readonly listedBy?: string;
  idOf(row: Row): string;
  nameOf(row: Row): string;
}

/** Finds the record that a person means by its name or id. */
export function findRecord<Row>(rows: readonly Row[], wanted: string, kind: Kind<Row>): Row {
  const { one, idOf, nameOf, listedBy } = kind;
  const [found, ...others] = rows.filter((row) => nameOf(row) === wanted || idOf(row) === wanted);
  if (found === undefined) {
    const known = rows.slice(0, 50).map(nameOf).join(', ') || 'none';
    throw new AppError('E_NOT_FOUND', `there is no ${one} ${wanted}; there are: ${known}`, {
      hint: `See them with: croft ${listedBy ?? `${one}s`}`,
    });
  }
  if (others.length === 0) return found;
  const all = [found, ...others].map((row) => `${idOf(row)} (${nameOf(row)})`);
  throw new UsageError(`${wanted} fits more than one ${one}; give a name or id that fits only one: ${all.join(', ')}`);
}

/** Returns the only record, for a flag that was not given. */
export function onlyRecord<Row>(rows: readonly Row[], flag: string, { one, nameOf }: Kind<Row>): Row {
  const [first, ...others] = rows;
  if (first !== undefined && others.length === 0) return first;
  throw new UsageError(`say which ${one}: ${flag} NAME, of: ${rows.map(nameOf).join(', ') || 'none'}`);
}

export const workspaceKind: Kind<{ readonly name: string; readonly workspaceId: string }> = {
  one: 'workspace',
  idOf: ({ workspaceId }) => workspaceId,
  nameOf: ({ name }) => name,
};
export const sandboxKind: Kind<{ readonly name: string; readonly sandboxId: string }> = {
  one: 'sandbox',
  listedBy: 'sandboxes',
  idOf: ({ sandboxId }) => sandboxId,
  nameOf: ({ name }) => name,
};
export const agentKind: Kind<{ readonly name: string; readonly agentId: string }> = {
  one: 'agent',
  idOf: ({ agentId }) => agentId,
  nameOf: ({ name }) => name,
};
