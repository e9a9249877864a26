import { AppError } from '@croft/protocol';
import type { ParsedFile } from '../core/code/code-symbol.ts';
import type { LanguageSyntax } from '../core/code/language-syntax.ts';
import type { SourceFile, Syntax } from '../core/code/syntax.ts';
import * as languages from '../languages/index.ts';
import { createParserThread, type ParseFailure } from './parser-thread.ts';

interface SyntaxOptions {
  /** How long one file may take. Two seconds if left out. */
  readonly timeoutMs?: number;
  /** Further time until a thread that does not give up is ended. */
  readonly graceMs?: number;
  /** Most files that are parsed at the same time. */
  readonly threads?: number;
}

const maxBytes = 1_000_000;
const maxLineBytes = 20_000;
const module = new URL('./syntax-worker.ts', import.meta.url);
const known = Object.values(languages);
const byExtension = new Map(known.flatMap((language) => language.extensions.map((extension) => [extension, language])));
const byName = new Map(known.flatMap((language) => (language.fileNames ?? []).map((name) => [name, language])));

/** Parses files with tree-sitter in worker threads, which start on first use. */
export function createSyntax({ timeoutMs = 2000, graceMs = 1000, threads = 2 }: SyntaxOptions = {}): Syntax {
  const idle = Array.from({ length: threads }, () => createParserThread({ module, timeoutMs, graceMs }));
  const waiting: ((thread: (typeof idle)[number]) => void)[] = [];

  return {
    extensions: [...byExtension.keys()].map((extension) => `.${extension}`),
    languageOf: (path) => find(path)?.id,
    async parse(file, signal) {
      const language = find(file.path);
      if (!language) return undefined;
      checkLimits(file);
      const thread = idle.shift() ?? (await new Promise<(typeof idle)[number]>((resolve) => waiting.push(resolve)));
      try {
        signal.throwIfAborted();
        return toFile(await thread.ask({ language: language.id, bytes: file.bytes }), file.path, timeoutMs);
      } finally {
        const next = waiting.shift();
        if (next) next(thread);
        else idle.unshift(thread);
      }
    },
  };
}

function find(path: string): LanguageSyntax | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byName.get(name) ?? byExtension.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
}

function checkLimits({ path, bytes }: SourceFile): void {
  if (bytes.length > maxBytes) throw notParsed(path, 'it is larger than 1 MB');
  if (bytes.includes(0)) throw notParsed(path, 'it has a NUL byte');
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end - start > maxLineBytes) throw notParsed(path, `it has a line of more than ${maxLineBytes} bytes`);
    start = end + 1;
  }
}

function toFile(answer: ParsedFile | ParseFailure, path: string, timeoutMs: number): ParsedFile {
  if (answer === 'late') throw notParsed(path, `parsing took longer than ${timeoutMs / 1000} s`);
  if (answer === 'crashed') throw notParsed(path, 'the parser failed or needed too much memory');
  return answer;
}

function notParsed(path: string, why: string): AppError {
  return new AppError('E_NOT_PARSED', `cannot parse ${path}: ${why}`, { details: { path } });
}
