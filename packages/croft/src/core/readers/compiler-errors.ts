/** An error with which a compiler or an interpreter rejected a file. */
interface CompilerError {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const maxErrors = 50;
const maxLine = 2000;
/** Lines after the error message that are searched for its file and line, when they are not on the same line. */
const maxDistance = 5;

/** Every supported error line matches this test. It passes quickly over the many lines that are no errors. */
const isLikely = /:|File "| in /;

/**
 * One reader per compiler: each takes a line and the lines after it. All expressions are anchored and have no nested
 * repetition, because the text is untrusted.
 */
const readers: readonly ((line: string, after: readonly string[]) => CompilerError | undefined)[] = [
  // go, gcc, clang, javac, swift, zig, ruby
  (line) =>
    toError(line.match(/^\s*(?:\[ERROR\] |vet: )?([^\s:()[\]"']{1,500}\.\w{1,10}):(\d{1,9})(?::\d{1,9})?:\s+(.+)$/)),
  // javac as Maven tells it
  (line) => toError(line.match(/^\[ERROR\] ([^\s:[\]]{1,500}):\[(\d{1,9}),\d{1,9}\]\s+(.+)$/)),
  // msbuild
  (line) => toError(line.match(/^\s*([^\s:()]{1,500})\((\d{1,9}),\d{1,9}\): error (.+)$/)),
  // kotlinc
  (line) => toError(line.match(/^e: (?:file:\/\/)?([^\s:]{1,500}):(\d{1,9}):\d{1,9} (.+)$/)),
  // php
  (line) => swapped(line.match(/^(?:PHP )?((?:Parse|Fatal) error:.{1,900}) in (\S{1,500})(?: on line |:)(\d{1,9})$/)),
  // phpunit since 10
  (line, [next = '']) => withLocationOnNextLine(line.match(/^Message: {1,4}(.{1,900})$/)?.[1], next),
  // elixir
  (line) => toError(line.match(/^\*\* \(\w{1,60}\) ([^\s:]{1,500}):(\d{1,9}):(?:\d{1,9}:)? (.+)$/)),
  // rustc, deno, and elixir since 1.15
  (line, after) =>
    withLocationBelow(line.match(/^\s*(?:error(?:\[\w{1,20}\])?|TS\d{1,5} \[ERROR\]): (.+)$/)?.[1], after),
  // python
  (line, after) => withMessageBelow(line.match(/^ {1,8}File "([^"]{1,500})", line (\d{1,9})$/), after),
  // node
  (line, after) => withMessageBelow(line.match(/^(?:file:\/\/)?(\/[^\s:]{1,500}):(\d{1,9})$/), after),
];

/** Finds the build errors in compiler output that name a file and a line. Takes linear time for any text. */
export function findCompilerErrors(text: string): CompilerError[] {
  const lines = text.split('\n');
  const found = new Map<string, CompilerError>();
  for (const [at, line] of lines.entries()) {
    if (found.size >= maxErrors) break;
    if (line.length > maxLine || !isLikely.test(line)) continue;
    const after = lines.slice(at + 1, at + 1 + maxDistance).filter((next) => next.length <= maxLine);
    const error = readFirst(line, after);
    if (error) found.set(`${error.file}:${error.line}:${error.message}`, error);
  }
  return [...found.values()];
}

function readFirst(line: string, after: readonly string[]): CompilerError | undefined {
  for (const read of readers) {
    const error = read(line, after);
    if (error) return error;
  }
  return undefined;
}

function toError(match: RegExpMatchArray | null): CompilerError | undefined {
  const [, file = '', line, message = ''] = match ?? [];
  if (!match || /^(?:warning|note|info|remark)\b/i.test(message) || isLocationOnly.test(message)) return undefined;
  return { file, line: Number(line), message: message.replace(/^(?:fatal )?error: /, '').trim() };
}

/**
 * Matches a message that is only a location: Elixir prints `lib/a.ex:2: A.add/2` or `A (module)` below a warning; Zig
 * prints stack frames such as `0x1 in main`.
 */
const isLocationOnly = /^(?:[\w.?!]{1,300}(?:\/\d{1,3}| \(module\))$|0x[\da-f]{1,16} in )/;

function swapped(match: RegExpMatchArray | null): CompilerError | undefined {
  const [, message = '', file = '', line] = match ?? [];
  return match ? { file, line: Number(line), message } : undefined;
}

function withLocationBelow(message: string | undefined, after: readonly string[]): CompilerError | undefined {
  if (message === undefined) return undefined;
  const location = after
    .map((line) => line.match(/^\s*(?:-->|└─|at) (?:file:\/\/)?([^\s:]{1,500}):(\d{1,9})/))
    .find((match) => match);
  return location ? { file: location[1] ?? '', line: Number(location[2]), message } : undefined;
}

function withLocationOnNextLine(message: string | undefined, next: string): CompilerError | undefined {
  const [, file, line] = next.match(/^Location: (\S{1,500}):(\d{1,9})$/) ?? [];
  return message === undefined || file === undefined ? undefined : { file, line: Number(line), message };
}

function withMessageBelow(location: RegExpMatchArray | null, after: readonly string[]): CompilerError | undefined {
  const message = location && after.find((line) => /^(?:Syntax|Indentation|Tab)Error: /.test(line));
  return message ? { file: location[1] ?? '', line: Number(location[2]), message } : undefined;
}
