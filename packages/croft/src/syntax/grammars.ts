import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Language, Parser, Query } from 'web-tree-sitter';
import type { LanguageSyntax } from '../core/code/language-syntax.ts';
import { packageDirectory } from '../lib/package-directory.ts';

/** A language that is ready to parse: its grammar is loaded and its query compiled. */
export interface Grammar {
  readonly language: LanguageSyntax;
  readonly parser: Parser;
  readonly query: Query;
  readonly keywords: ReadonlySet<string>;
}

const pageBytes = 64 * 1024;
const initialBytes = 32 * 1024 * 1024;

/** The parser's memory cannot grow beyond this: a parse that needs more throws, and this thread is given up. */
const maxBytes = 256 * 1024 * 1024;

const memory = new WebAssembly.Memory({ initial: initialBytes / pageBytes, maximum: maxBytes / pageBytes });

/** How much memory the parser has taken. It never shrinks. */
export const usedBytes = (): number => memory.buffer.byteLength;

const ready = Parser.init({
  wasmMemory: memory,
  locateFile: () => fileOf('web-tree-sitter', 'web-tree-sitter.wasm'),
} as Parameters<typeof Parser.init>[0]);
const loaded = new Map<string, Promise<Grammar>>();

/** Loads the grammar of a language on its first use. */
export function loadGrammar(language: LanguageSyntax): Promise<Grammar> {
  const known = loaded.get(language.id);
  if (known) return known;
  const loading = load(language);
  loaded.set(language.id, loading);
  return loading;
}

async function load(language: LanguageSyntax): Promise<Grammar> {
  await ready;
  const loaded = await Language.load(fileOf(language.grammar.package, language.grammar.file));
  const parser = new Parser().setLanguage(loaded);
  return { language, parser, query: new Query(loaded, language.query), keywords: findKeywords(loaded) };
}

/** Packages are found from the sources and from their bundle alike. */
function fileOf(name: string, file: string): string {
  const manifest = findPackageJSON(name, pathToFileURL(join(packageDirectory, 'package.json')));
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`);
  return join(dirname(manifest), file);
}

/** The words among the tokens that a grammar writes literally. */
function findKeywords(language: Language): ReadonlySet<string> {
  const isKeyword = (type: string, id: number) => /^[a-z_]+$/i.test(type) && !language.nodeTypeIsNamed(id);
  return new Set(language.types.filter(isKeyword));
}
