import { AppError } from '@croft/protocol';
import type { CodeSymbol } from '../code-symbol.ts';

/** A symbol as callers write it: `Foo`, `A.b`, `A/b`, `A::b`, `(*T).Foo`, `/top`, `over[1]`, `name#2`. */
export interface SymbolAddress {
  readonly written: string;
  /** Containers, then the name. */
  readonly names: readonly string[];
  /** True when the first name must be at the top of the file. */
  readonly isWhole: boolean;
  /** Index among the symbols that match, from 0. */
  readonly overload?: number | undefined;
  /** Number among the symbols on the given line, from 1. */
  readonly onLine?: number | undefined;
}

const maxLength = 1000;

/** Throws `E_INVALID_INPUT` for a text without a name. */
export function parseSymbolAddress(written: string): SymbolAddress {
  if (written.length > maxLength) throw notASymbol(written.slice(0, 100));
  const [, beforeOverload = written.trim(), overload] = /^(.+)\[(\d{1,6})\]$/s.exec(written.trim()) ?? [];
  const [, path = beforeOverload, onLine] = /^(.*[^#])#(\d{1,6})$/s.exec(beforeOverload) ?? [];
  const isWhole = path.startsWith('/');
  const plain = path.replace(/^\/+/, '').replace(/^\(\s*\*?\s*([^()]*?)\s*\)/, '$1');
  const names = splitNames(plain);
  if (names.length === 0) throw notASymbol(written);
  return {
    ...{ written, names, isWhole },
    ...(overload !== undefined && { overload: Number(overload) }),
    ...(onLine !== undefined && { onLine: Number(onLine) }),
  };
}

/** Type arguments are no part of a name: `Stack[K].Push`, `Vec<T>::new`. A name that is all signs stays as it is. */
function splitNames(path: string): string[] {
  const names = path.split(/::|[./]/).map((name) => name.trim());
  const known = names.map((name) => name.replace(/^\*/, '').replace(/(?<=.)(?:\[.*\]|<.*>)$/s, ''));
  return known.filter((name) => name !== '');
}

/** Names match from the end: `b` and `A.b` both match `b` in `A` in `Shop`. */
export function matchesAddress({ name, containers }: CodeSymbol, { names, isWhole }: SymbolAddress): boolean {
  const full = [...containers, name];
  if (isWhole ? full.length !== names.length : full.length < names.length) return false;
  return names.every((wanted, index) => full[full.length - names.length + index] === wanted);
}

/** The name of a symbol with its containers, as a caller can write it. */
export function fullName({ name, containers }: Pick<CodeSymbol, 'name' | 'containers'>): string {
  return [...containers, name].join('.');
}

function notASymbol(written: string): AppError {
  return new AppError('E_INVALID_INPUT', `symbol is not valid: ${JSON.stringify(written)} has no name`);
}
