import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256 } from '../../lib/crypto/sha256.ts';

/** A file of the documentation. */
export interface DocsFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The content compressed by gzip. Absent for files that are compressed already. */
  readonly gzipped?: Uint8Array<ArrayBuffer>;
}

export interface DocsFiles {
  /** Looks a name up among the built files: no part of a path of the disk comes from a request. */
  read(name: string): Promise<DocsFile | undefined>;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};
const compress = promisify(gzip);

/**
 * Opens the site that `scripts/docs.ts` has built. Reads a file at its first request, and keeps it: the site has 3 MB.
 */
export function openDocsFiles(directory: string): DocsFiles {
  const files = new Map<string, Promise<DocsFile>>();
  let names: Promise<ReadonlySet<string>> | undefined;
  return {
    async read(name) {
      names ??= listNames(directory);
      if (!(await names).has(name)) return undefined;
      const file = files.get(name) ?? readDocsFile(directory, name);
      files.set(name, file);
      return file;
    },
  };
}

/** Without the site, as in a clone that nobody has set up, there are no names. */
async function listNames(directory: string): Promise<ReadonlySet<string>> {
  const found = await readdir(directory, { recursive: true }).catch(() => []);
  return new Set(found.filter((name) => typeOf(name) !== undefined));
}

async function readDocsFile(directory: string, name: string): Promise<DocsFile> {
  const bytes = new Uint8Array(await readFile(join(directory, name)));
  const type = typeOf(name) ?? 'application/octet-stream';
  const file = { type, bytes, etag: `"${sha256(bytes).slice(0, 32)}"` };
  return type === 'image/png' ? file : { ...file, gzipped: new Uint8Array(await compress(bytes)) };
}

function typeOf(name: string): string | undefined {
  return types[name.slice(name.lastIndexOf('.') + 1)];
}
