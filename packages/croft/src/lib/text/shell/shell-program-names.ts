import { endWord, type ShellWordState, startCommand, startWords } from './shell-word-state.ts';

/** A nested part of the text with its own rules. */
interface Context {
  readonly kind: 'commands' | 'quotes' | 'braces' | 'arithmetic' | 'list';
  /** The character that ends the part; '' for the whole text. */
  readonly end: string;
  /** The words of the innermost commands around it. */
  readonly words: ShellWordState;
  /** Number of open parentheses within arithmetic. */
  depth: number;
}

interface Reader {
  readonly text: string;
  at: number;
  readonly contexts: Context[];
  readonly heredocs: { delimiter: string; isIndented: boolean }[];
  readonly commands: string[];
}

type Read = (reader: Reader, context: Context, char: string) => void;

/** Deepest nesting that is read; more than anybody writes. */
const maxDepth = 200;
/** Stands in a word for a part that is known only when the command runs. */
const expansion = '\0';
const plainChars = /[^\s\\'"`$()<>;&|#{}]+/y;
const heredocStart = /(-?)[ \t]*((?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|\\.|[^\s'"\\;&|<>()`]){1,200})/y;

/**
 * Returns the names of the programs that a bash text would run, without quotes and escapes; a name that is known only
 * at run time contains a NUL. Follows substitutions, but not strings that a program might run, such as the argument of
 * `bash -c`. Takes linear time for any text; invalid shell gives some answer.
 */
export function readShellProgramNames(text: string): string[] {
  const outermost: Context = { kind: 'commands', end: '', words: startWords(), depth: 0 };
  const reader: Reader = { text, at: 0, contexts: [outermost], heredocs: [], commands: [] };
  while (reader.at < text.length && reader.contexts.length < maxDepth) {
    const context = reader.contexts.at(-1) ?? outermost;
    const char = text[reader.at] ?? '';
    chooseReading(context, char)(reader, context, char);
  }
  for (const { words } of reader.contexts.toReversed()) finishWord(reader, words);
  return reader.commands;
}

function chooseReading(context: Context, char: string): Read {
  if (char === '`') return readBackTick;
  if (context.kind === 'arithmetic' && '()'.includes(char)) return readInArithmetic;
  if (char === context.end && context.words.mode !== 'patterns') return leave;
  if (char === '$') return readDollar;
  if (char === '\\') return readEscape;
  if (context.kind === 'quotes') return readPlain;
  if (char === '"') return readDoubleQuote;
  if (char === "'") return readSingleQuote;
  return context.kind === 'commands' ? chooseInCommands(context, char) : readPlain;
}

function chooseInCommands({ words }: Context, char: string): Read {
  if (char === '(') return readParenthesis;
  if (char === '<' || char === '>') return readRedirection;
  if (char === '#' && words.current === undefined) return skipComment;
  return /[\s;&|)]/.test(char) ? readSeparator : readPlain;
}

function enter(reader: Reader, kind: Context['kind'], end: string, words: ShellWordState): void {
  reader.contexts.push({ kind, end, words, depth: 0 });
}

const leave: Read = (reader, { kind, words }) => {
  if (kind === 'commands') finishWord(reader, words);
  reader.contexts.pop();
  reader.at++;
};

/** Ends a word and records it if it is a command. `name ()` defines a function and runs nothing. */
function finishWord(reader: Reader, words: ShellWordState): void {
  const command = endWord(words);
  if (command === undefined) return;
  let next = reader.at;
  while (reader.text[next] === ' ' || reader.text[next] === '\t') next++;
  if (reader.text[next] !== '(') reader.commands.push(command);
}

function append(words: ShellWordState, text: string): void {
  words.current = (words.current ?? '') + text;
}

const readPlain: Read = (reader, { kind, words }, char) => {
  plainChars.lastIndex = reader.at;
  const plain = (kind === 'commands' && plainChars.exec(reader.text)?.[0]) || char;
  append(words, kind === 'arithmetic' ? expansion : plain);
  reader.at += plain.length;
};

/** Ends the innermost commands between back-ticks with everything open inside, or starts new ones. */
const readBackTick: Read = (reader, { words }, char) => {
  const index = reader.contexts.findLastIndex(({ end }) => end === '`');
  const open = reader.contexts[index];
  if (open) {
    reader.contexts.length = index + 1;
    leave(reader, open, char);
  } else {
    append(words, expansion);
    enter(reader, 'commands', '`', startWords());
    reader.at++;
  }
};

const readDollar: Read = (reader, { kind, words }) => {
  const next = reader.text.slice(reader.at + 1, reader.at + 3);
  append(words, expansion);
  reader.at += 2;
  if (next === '((') enter(reader, 'arithmetic', ')', words);
  else if (next.startsWith('(')) enter(reader, 'commands', ')', startWords());
  else if (next.startsWith('{')) enter(reader, 'braces', '}', words);
  else if (next.startsWith("'") && kind !== 'quotes') reader.at = ansiQuoteEnd(reader.text, reader.at);
  else reader.at--;
  if (next === '((') reader.at++;
};

function ansiQuoteEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== "'") at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Reads an escaped character. A newline after a backslash disappears and does not even end a word. */
const readEscape: Read = (reader, { words }) => {
  const next = reader.text[reader.at + 1] ?? '';
  if (next !== '\n') append(words, next);
  reader.at += 2;
};

const readDoubleQuote: Read = (reader, { words }) => {
  append(words, '');
  enter(reader, 'quotes', '"', words);
  reader.at++;
};

const readSingleQuote: Read = (reader, { words }) => {
  const found = reader.text.indexOf("'", reader.at + 1);
  const end = found < 0 ? reader.text.length : found;
  append(words, reader.text.slice(reader.at + 1, end));
  reader.at = end + 1;
};

const readInArithmetic: Read = (reader, context, char) => {
  reader.at++;
  context.depth += char === '(' ? 1 : -1;
  if (context.depth >= 0) return;
  if (reader.text[reader.at] === ')') reader.at++;
  reader.contexts.pop();
};

/**
 * Reads `(`, which starts a list of values, a pattern, arithmetic, the parentheses of a function definition, or
 * commands for a subshell.
 */
const readParenthesis: Read = (reader, { words }) => {
  const isArithmetic = reader.text[reader.at + 1] === '(';
  reader.at++;
  if (words.mode === 'patterns') return;
  if (words.mode === 'test' || words.current?.endsWith('=')) enter(reader, 'list', ')', words);
  else if (isArithmetic) {
    reader.at++;
    enter(reader, 'arithmetic', ')', words);
  } else {
    words.current = undefined;
    words.expectsCommand = true;
    enter(reader, 'commands', ')', startWords());
  }
};

const readRedirection: Read = (reader, { words }) => {
  const { text, at } = reader;
  // In `2>file` the number is not a word.
  if (/^\d{1,9}$/.test(words.current ?? '')) words.current = undefined;
  finishWord(reader, words);
  const sign = /^(?:<<<|<<|>>|[<>][&(]|>\||<>|.)/.exec(text.slice(at, at + 3))?.[0] ?? '';
  reader.at += sign.length;
  if (sign === '<<') readHeredocStart(reader);
  else if (sign.endsWith('(')) {
    append(words, expansion);
    enter(reader, 'commands', ')', startWords());
  } else words.expectsFile = true;
};

function readHeredocStart(reader: Reader): void {
  heredocStart.lastIndex = reader.at;
  const [all, dash, delimiter = ''] = heredocStart.exec(reader.text) ?? [];
  if (all === undefined) return;
  reader.at += all.length;
  reader.heredocs.push({ delimiter: delimiter.replace(/['"\\]/g, ''), isIndented: dash === '-' });
}

const skipComment: Read = (reader) => {
  const end = reader.text.indexOf('\n', reader.at);
  reader.at = end < 0 ? reader.text.length : end;
};

const readSeparator: Read = (reader, { words }, char) => {
  const next = reader.text[reader.at + 1] ?? '';
  finishWord(reader, words);
  reader.at++;
  if (char === '\n') skipHeredocs(reader);
  if (char === ')' && words.mode === 'patterns') words.mode = 'commands';
  if (char === ';' && words.caseDepth > 0 && (next === ';' || next === '&')) words.mode = 'patterns';
  const isRedirection = char === '&' && next === '>';
  if (/[\n;&|)]/.test(char) && !isRedirection) startCommand(words);
};

function skipHeredocs(reader: Reader): void {
  for (const { delimiter, isIndented } of reader.heredocs.splice(0)) {
    let line: string | undefined;
    while (line !== delimiter && reader.at < reader.text.length) {
      const found = reader.text.indexOf('\n', reader.at);
      const end = found < 0 ? reader.text.length : found;
      line = reader.text.slice(reader.at, end);
      if (isIndented) line = line.replace(/^\t+/, '');
      reader.at = end + 1;
    }
  }
}
