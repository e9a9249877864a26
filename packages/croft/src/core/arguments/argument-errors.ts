import { AppError } from '@croft/protocol';
import { findNearest } from './nearest-name.ts';

interface KnownNames {
  readonly tool: string;
  readonly names: readonly string[];
  /** Other spellings of the names. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Reasons why certain names are refused. */
  readonly refusals: Readonly<Record<string, string>>;
}

/** Limits how many unknown names, and how much of each, an error repeats. */
const maxNamed = 5;
const maxShown = 60;

export function sameArgumentTwice(one: string, other: string): AppError {
  return invalid(`${quote(one)} and ${quote(other)} mean the same argument: pass one of them`, [one, other]);
}

export function unknownArguments(unknown: readonly string[], known: KnownNames): AppError {
  const named = unknown.slice(0, maxNamed);
  const takes = known.names.length === 0 ? 'no arguments' : known.names.join(', ');
  return invalid(`${named.map((name) => toReason(name, known)).join('; ')}. It takes ${takes}`, named);
}

function toReason(name: string, { tool, names, aliases, refusals }: KnownNames): string {
  if (Object.hasOwn(refusals, name)) return `${quote(name)} is no argument of ${tool}: ${refusals[name]}`;
  const spelt = findNearest(name, [...names, ...Object.keys(aliases)]);
  const nearest = spelt === undefined ? '' : `; the nearest is ${aliases[spelt] ?? spelt}`;
  return `${tool} has no argument ${quote(name)}${nearest}`;
}

function invalid(message: string, names: readonly string[]): AppError {
  const shown = names.map((name) => name.slice(0, maxShown));
  return new AppError('E_INVALID_INPUT', message, { details: { arguments: shown } });
}

function quote(name: string): string {
  return JSON.stringify(name.length > maxShown ? `${name.slice(0, maxShown)}…` : name);
}
