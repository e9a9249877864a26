import { AppError } from '@croft/protocol';
import type { ParsedFile } from '../core/code/code-symbol.ts';
import type { LanguageSyntax } from '../core/code/language-syntax.ts';
import type { SourceFile, Syntax } from '../core/code/syntax.ts';
import * as languages from '../languages/index.ts';
import { createParserThread, fromJson, type ParseFailure } from './parser-thread.ts';

interface SyntaxOptions {
  /** How long one file may take. Two seconds if left out. */
  readonly timeoutMs?: number;
  /** Further time until a thread that does not give up is ended. */
  readonly graceMs?: number;
  /** Most files that are parsed at the same time. */
  readonly threads?: number;
}

/** An agent asks again soon, and starting a parser takes 150 ms. More than one parse only while an index is built. */
const firstIdleMs = 20_000;
const otherIdleMs = 2000;
const maxBytes = 1_000_000;
const maxLineBytes = 20_000;
const module = new URL('./syntax-worker.ts', import.meta.url);
const known = Object.values(languages);
const byExtension = new Map(known.flatMap((language) => language.extensions.map((extension) => [extension, language])));
const byName = new Map(known.flatMap((language) => (language.fileNames ?? []).map((name) => [name, language])));

type ParserThread = ReturnType<typeof createParserThread>;

/** Parses files with tree-sitter in worker threads, which start on first use. */
export function createSyntax({ timeoutMs = 2000, graceMs = 1000, threads = 2 }: SyntaxOptions = {}): Syntax {
  const idle = Array.from({ length: threads }, (_, index) =>
    createParserThread({ module, timeoutMs, graceMs, idleMs: index === 0 ? firstIdleMs : otherIdleMs }),
  );
  const [first] = idle;
  const waiting: ((thread: ParserThread) => void)[] = [];

  return {
    extensions: [...byExtension.keys()].map((extension) => `.${extension}`),
    languageOf: (path) => find(path)?.id,
    async parse(file, signal) {
      const language = find(file.path)?.id;
      if (language === undefined) return undefined;
      checkLimits(file);
      const answer = await ask({ wants: 'file', language, bytes: file.bytes }, signal);
      return toFile(answer, file.path, timeoutMs);
    },
    async digest(file, signal) {
      if (whyUnreadable(file) !== undefined) return undefined;
      const answer = await ask({ wants: 'digest', language: find(file.path)?.id, bytes: file.bytes }, signal);
      return typeof answer === 'string' ? undefined : answer.json;
    },
  };

  async function ask(question: Parameters<ParserThread['ask']>[0], signal: AbortSignal) {
    const thread = idle.shift() ?? (await new Promise<ParserThread>((resolve) => waiting.push(resolve)));
    try {
      signal.throwIfAborted();
      return await thread.ask(question);
    } finally {
      const next = waiting.shift();
      if (next) next(thread);
      else if (thread === first) idle.unshift(thread);
      else idle.push(thread);
    }
  }
}

function find(path: string): LanguageSyntax | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return byName.get(name) ?? byExtension.get(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
}

function checkLimits(file: SourceFile): void {
  const why = whyUnreadable(file);
  if (why !== undefined) throw notParsed(file.path, why);
}

function whyUnreadable({ bytes }: SourceFile): string | undefined {
  if (bytes.length > maxBytes) return 'it is larger than 1 MB';
  if (bytes.includes(0)) return 'it has a NUL byte';
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end - start > maxLineBytes) return `it has a line of more than ${maxLineBytes} bytes`;
    start = end + 1;
  }
  return undefined;
}

function toFile(answer: { readonly json: string } | ParseFailure, path: string, timeoutMs: number): ParsedFile {
  if (answer === 'late') throw notParsed(path, `parsing took longer than ${timeoutMs / 1000} s`);
  if (answer === 'crashed') throw notParsed(path, 'the parser failed or needed too much memory');
  return fromJson(answer.json);
}

function notParsed(path: string, why: string): AppError {
  return new AppError('E_NOT_PARSED', `cannot parse ${path}: ${why}`, { details: { path } });
}
