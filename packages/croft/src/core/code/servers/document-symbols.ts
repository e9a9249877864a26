import { toUri } from '../ports/file-uris.ts';
import type { LanguageServer } from '../ports/language-servers.ts';
import { type DocumentSymbol, DocumentSymbols, type Position, type Range } from '../ports/protocol-schemas.ts';

/** A definition as the server of its language names it. */
export interface ServerSymbol {
  readonly path: string;
  readonly name: string;
  readonly containers: readonly string[];
  /** Number of the protocol's list of kinds. */
  readonly kind: number;
  readonly at: Position;
  readonly range: Range;
}

const kinds: Readonly<Record<number, string>> = {
  ...{ 2: 'module', 3: 'module', 4: 'module', 5: 'class', 6: 'method', 7: 'property', 8: 'field', 9: 'constructor' },
  ...{ 10: 'enum', 11: 'interface', 12: 'function', 13: 'variable', 14: 'constant', 22: 'constant', 23: 'struct' },
};

export function kindName(kind: number): string {
  return kinds[kind] ?? 'symbol';
}

/** Lists the definitions of a file, each after its container. */
export async function documentSymbols(server: LanguageServer, path: string): Promise<ServerSymbol[]> {
  await server.open(path);
  const found = DocumentSymbols.parse(
    await server.request('textDocument/documentSymbol', { textDocument: { uri: toUri(server.root, path) } }),
  );
  const all = (found ?? []).flatMap((symbol) => {
    if ('selectionRange' in symbol) return flatten(path, symbol, []);
    const { name, kind, location, containerName } = symbol;
    const containers = containerName ? containerName.split(/::|\./) : [];
    return [{ path, name, kind, containers, at: location.range.start, range: location.range }];
  });
  return all.map(withPlainNames);
}

/** A method of Go is `(*Cart).Add`, and a container of Rust is `impl Display for Cart`: both are members of `Cart`. */
function withPlainNames(symbol: ServerSymbol): ServerSymbol {
  const [, receiver, method] = /^\(\*?(\w+)(?:\[[^\]]*\])?\)\.(\w+)$/.exec(symbol.name.slice(0, maxContainer)) ?? [];
  if (receiver !== undefined && method !== undefined)
    return { ...symbol, name: method, containers: [...symbol.containers, receiver] };
  return { ...symbol, containers: symbol.containers.map(toTypeName) };
}

function toTypeName(container: string): string {
  const [, type = container] =
    /^impl\b.*?(?:\bfor\s+)?(?:\w+::)*(\w+)(?:<[^<>]*>)?$/.exec(container.slice(0, maxContainer)) ?? [];
  return type;
}

const maxDepth = 50;
const maxContainer = 300;

function flatten(path: string, symbol: DocumentSymbol, containers: readonly string[]): ServerSymbol[] {
  const { name, kind, selectionRange, range, children = [] } = symbol;
  const own = { path, name, kind, containers, at: selectionRange.start, range };
  if (containers.length >= maxDepth) return [own];
  return [own, ...children.flatMap((child) => flatten(path, child, [...containers, name]))];
}
