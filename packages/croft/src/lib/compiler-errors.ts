/** An error of a compiler or an interpreter that would not take a file. */
export interface CompilerError {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const maxErrors = 50;
const maxLine = 2000;
/** How far below an error the place of it is said, where it is not on the same line. */
const maxDistance = 5;

/** What every one of them has, so that the many lines without are passed quickly. */
const isLikely = /:|File "| in /;

/** Each takes a line and those after it. All are anchored and without nested repetition: the text is not ours. */
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
  (line, [next = '']) => placedNext(line.match(/^Message: {1,4}(.{1,900})$/)?.[1], next),
  // elixir
  (line) => toError(line.match(/^\*\* \(\w{1,60}\) ([^\s:]{1,500}):(\d{1,9}):(?:\d{1,9}:)? (.+)$/)),
  // rustc, deno, and elixir since 1.15
  (line, after) => placedBelow(line.match(/^\s*(?:error(?:\[\w{1,20}\])?|TS\d{1,5} \[ERROR\]): (.+)$/)?.[1], after),
  // python
  (line, after) => namedBelow(line.match(/^ {1,8}File "([^"]{1,500})", line (\d{1,9})$/), after),
  // node
  (line, after) => namedBelow(line.match(/^(?:file:\/\/)?(\/[^\s:]{1,500}):(\d{1,9})$/), after),
];

/** What kept a program from being built, as far as it is said with a place. In linear time, whatever the text. */
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
  if (!match || /^(?:warning|note|info|remark)\b/i.test(message) || isPlaceAlone.test(message)) return undefined;
  return { file, line: Number(line), message: message.replace(/^(?:fatal )?error: /, '').trim() };
}

/** Elixir says where a warning is below it: `lib/a.ex:2: A.add/2`, or `A (module)`; Zig has stacks of `0x1 in main`. */
const isPlaceAlone = /^(?:[\w.?!]{1,300}(?:\/\d{1,3}| \(module\))$|0x[\da-f]{1,16} in )/;

function swapped(match: RegExpMatchArray | null): CompilerError | undefined {
  const [, message = '', file = '', line] = match ?? [];
  return match ? { file, line: Number(line), message } : undefined;
}

function placedBelow(message: string | undefined, after: readonly string[]): CompilerError | undefined {
  if (message === undefined) return undefined;
  const place = after
    .map((line) => line.match(/^\s*(?:-->|└─|at) (?:file:\/\/)?([^\s:]{1,500}):(\d{1,9})/))
    .find((match) => match);
  return place ? { file: place[1] ?? '', line: Number(place[2]), message } : undefined;
}

function placedNext(message: string | undefined, next: string): CompilerError | undefined {
  const [, file, line] = next.match(/^Location: (\S{1,500}):(\d{1,9})$/) ?? [];
  return message === undefined || file === undefined ? undefined : { file, line: Number(line), message };
}

function namedBelow(place: RegExpMatchArray | null, after: readonly string[]): CompilerError | undefined {
  const message = place && after.find((line) => /^(?:Syntax|Indentation|Tab)Error: /.test(line));
  return message ? { file: place[1] ?? '', line: Number(place[2]), message } : undefined;
}
