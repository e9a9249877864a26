/** Between us and one neighbour only, never passed on. `Expect` is answered here. */
const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Flat pairs as Node keeps them, without those that end at this hop. `Connection` may name more of them. */
export function dropHopByHop(rawHeaders: readonly string[]): string[] {
  const pairs = toPairs(rawHeaders);
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set(named.map((name) => name.trim().toLowerCase()));
  // Naming it as hop-by-hop must not lose how long the body is.
  dropped.delete('content-length');
  return pairs.filter(([name]) => !isDropped(name.toLowerCase(), dropped)).flat();
}

export function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return toPairs(rawHeaders)
    .filter(([own]) => own.toLowerCase() === name)
    .map(([, value]) => value);
}

function isDropped(name: string, named: ReadonlySet<string>): boolean {
  return hopByHop.has(name) || name.startsWith('proxy-') || named.has(name);
}

function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ]);
}
