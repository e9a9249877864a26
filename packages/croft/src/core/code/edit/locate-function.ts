import { AppError } from '@croft/protocol';
import type { CodeSymbol, SymbolKind } from '../code-symbol.ts';
import { matchesIn, pickSymbol, type QueriedFile } from '../symbols/pick-symbol.ts';
import { fullName } from '../symbols/symbol-address.ts';
import { ambiguous, noSymbol } from '../symbols/symbol-errors.ts';

const functionKinds: ReadonlySet<SymbolKind> = new Set(['function', 'method', 'constructor', 'test', 'macro']);

/**
 * Picks a function by its name. Declarations without a body do not count beside one that has a body: in TypeScript an
 * overloaded function has several signatures and one body.
 */
export function locateFunction(file: QueriedFile, written: string, wantsBody: boolean): CodeSymbol {
  const found = matchesIn(file, { symbol: written }).filter(({ kind }) => functionKinds.has(kind));
  const [, receiver] = /^\(\s*\*?\s*([^)]*)\)/.exec(written) ?? [];
  if (found.length === 0) throw noFunction(file, written, receiver);
  const withBody = found.filter(({ bodyRange }) => bodyRange !== undefined);
  const [only, ...others] = wantsBody && withBody.length > 0 ? withBody : found;
  if (!only || others.length > 0)
    throw ambiguous(
      written,
      found.map((symbol) => ({ path: file.path, symbol })),
    );
  return only;
}

function noFunction({ path, parsed }: QueriedFile, written: string, receiver: string | undefined) {
  const known = parsed.symbols.filter(({ kind }) => functionKinds.has(kind)).map(fullName);
  return noSymbol(written, ` in ${path}`, known, receiver === undefined ? 'function' : 'method');
}

/** Picks a method of a type. The error names the methods that the type has. */
export function locateMethod(file: QueriedFile, receiverType: string, method: string): CodeSymbol {
  const type = receiverType
    .trim()
    .replace(/^[*&]+/, '')
    .replace(/[[<].*$/s, '')
    .trim();
  const methods = file.parsed.symbols.filter(
    ({ kind, containers }) => functionKinds.has(kind) && containers.at(-1) === type.split(/::|\./).at(-1),
  );
  if (methods.some(({ name }) => name === method.replace(/\[\d+\]$/, '')))
    return pickSymbol(file, { symbol: `${type}.${method}` });
  const isPointer = receiverType.trim().startsWith('*');
  const names = [...new Set(methods.map(({ name }) => (isPointer ? `(*${type}).${name}` : `${type}.${name}`)))];
  const available =
    names.length === 0 ? 'no methods found on that receiver' : `available: ${names.slice(0, 20).join(', ')}`;
  return throwNoMethod(`method ${method} not found on ${receiverType.trim()} in ${file.path} (${available})`, names);
}

function throwNoMethod(message: string, nearest: readonly string[]): never {
  throw new AppError('E_NO_SYMBOL', message, { details: { nearest: nearest.slice(0, 20) } });
}
