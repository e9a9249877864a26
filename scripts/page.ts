import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const page = join(import.meta.dirname, '../packages/dashboard');
const target = join(page, 'dist');

/** Limits of a first visit, compressed by gzip. Parts that open later are not counted. */
const budget = { js: 60_000, css: 12_000, requests: 5 } as const;

/** Addresses of this machine, and those that are names and that no browser loads. */
const names = ['http://www.w3.org/', 'http://croft.localhost'];

export interface PageFile {
  readonly name: string;
  readonly text: string;
}

/** Says what a first visit loads too much of, and which other hosts the page names. */
export function findExcess(document: string, files: readonly PageFile[]): string[] {
  const first = files.filter(({ name }) => document.includes(`/assets/${name}`));
  const sizeOf = (ending: string) =>
    first.filter(({ name }) => name.endsWith(ending)).reduce((sum, { text }) => sum + gzipSync(text).length, 0);
  const hosts = [document, ...files.map(({ text }) => text)].flatMap(findAddresses);
  return [
    ...over('JavaScript of the first visit, in bytes', sizeOf('.js'), budget.js),
    ...over('CSS of the first visit, in bytes', sizeOf('.css'), budget.css),
    ...over('requests of the first visit', first.length + 1, budget.requests),
    ...[...new Set(hosts)].map((address) => `the page names another host: ${address}`),
  ];
}

function over(what: string, size: number, most: number): string[] {
  return size > most ? [`${what}: ${size}, at most ${most}`] : [];
}

function findAddresses(text: string): string[] {
  const found = text.match(/\b(?:https?|wss?):\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`)\\]*/gi) ?? [];
  return found.filter((address) => !names.some((name) => address.startsWith(name)));
}

/** Builds the page into `packages/dashboard/dist`, where the server finds it. Throws if it is over the budget. */
export async function makePage(): Promise<void> {
  const startedAt = new Date();
  const made = `${target}.${process.pid}`;
  try {
    await build({ root: page, configFile: join(page, 'vite.config.ts'), build: { outDir: made, emptyOutDir: true } });
    const excess = findExcess(readFileSync(join(made, 'index.html'), 'utf8'), readAssets(made));
    if (excess.length > 0) throw new Error(`the page is over its budget:\n  ${excess.join('\n  ')}`);
    compressAssets(join(made, 'assets'));
    utimesSync(join(made, 'index.html'), startedAt, startedAt);
    replace(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function readAssets(made: string): PageFile[] {
  const folder = join(made, 'assets');
  return readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));
}

function compressAssets(folder: string): void {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT };
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

/** A server that runs has read the earlier page into its memory. */
function replace(made: string): void {
  const old = `${made}.old`;
  mkdirSync(target, { recursive: true });
  renameSync(target, old);
  renameSync(made, target);
  rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) await makePage();
