/** Headers for one hop only, never forwarded. The proxy answers `Expect` itself. */
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

/**
 * Removes the hop-by-hop headers from Node's flat list of names and values. `Connection` may name further headers to
 * remove.
 */
export function dropHopByHopHeaders(rawHeaders: readonly string[]): string[] {
  const pairs = toPairs(rawHeaders);
  const named = pairs.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set(named.map((name) => name.trim().toLowerCase()));
  // `Connection: content-length` must not remove the length of the body.
  dropped.delete('content-length');
  return pairs.filter(([name]) => !isDropped(name.toLowerCase(), dropped)).flat();
}

export function headerValues(rawHeaders: readonly string[], name: string): string[] {
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
