import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A file of the page. Its name has a hash of its content, so the content of a name never changes. */
export interface PageAsset {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same bytes, compressed, by the name of the content coding. */
  readonly encoded: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
}

/** The built page for people, in memory: less than a megabyte. */
export interface PageFiles {
  /** The document, with a placeholder for the nonce of its styles. */
  readonly document: string;
  /** Files of the page by their names. */
  readonly assets: ReadonlyMap<string, PageAsset>;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};
const codings = { br: 'br', gzip: 'gz' } as const;

/**
 * Reads what `scripts/page.ts` has built. Returns `undefined` if it was not built: the server works without the page.
 */
export function readPageFiles(directory: string): PageFiles | undefined {
  const index = join(directory, 'index.html');
  if (!statSync(index, { throwIfNoEntry: false })) return undefined;
  const folder = join(directory, 'assets');
  const names = readdirSync(folder).filter((name) => typeOf(name) !== undefined);
  return {
    document: readFileSync(index, 'utf8'),
    assets: new Map(names.map((name) => [name, readAsset(folder, name)])),
  };
}

function readAsset(folder: string, name: string): PageAsset {
  const encoded = Object.entries(codings).flatMap(([coding, ending]) => {
    const file = join(folder, `${name}.${ending}`);
    return statSync(file, { throwIfNoEntry: false }) ? [[coding, readBytes(file)]] : [];
  });
  return {
    type: typeOf(name) ?? 'application/octet-stream',
    bytes: readBytes(join(folder, name)),
    encoded: Object.fromEntries(encoded),
  };
}

function readBytes(file: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(file));
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf('.') + 1)];
}
