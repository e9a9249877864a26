/** What the words of a list of shell commands have come to. */
export interface Words {
  /** The word being read, without its quotes. */
  current: string | undefined;
  /** The next word is the name of a program. */
  expectsCommand: boolean;
  /** The next word is the file of a redirection. */
  expectsFile: boolean;
  /** The program that runs the command to come, such as `env`. */
  wrapper: string;
  /** After `case`, in the patterns after its `in`, and within `[[ ]]` no word is a command. */
  mode: 'commands' | 'case' | 'patterns' | 'test';
  caseDepth: number;
}

const keywords = new Set(['!', '{', 'if', 'then', 'elif', 'else', 'while', 'until', 'do', 'coproc']);
const wrappers = new Set(['builtin', 'command', 'env', 'exec', 'nice', 'nohup', 'setsid', 'time']);
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

export function startWords(): Words {
  return {
    current: undefined,
    expectsCommand: true,
    expectsFile: false,
    wrapper: '',
    mode: 'commands',
    caseDepth: 0,
  };
}

/** At `;`, `&`, `|`, a newline or the `)` of a pattern. */
export function startCommand(words: Words): void {
  if (words.mode !== 'commands') return;
  words.expectsCommand = true;
  words.expectsFile = false;
  words.wrapper = '';
}

/** Ends the word being read and returns it if it is the name of a program to run. */
export function endWord(words: Words): string | undefined {
  const word = words.current;
  words.current = undefined;
  if (word === undefined) return undefined;
  if (words.expectsFile) {
    words.expectsFile = false;
    return undefined;
  }
  if (words.mode !== 'commands') endSpecialWord(words, word);
  else if (words.expectsCommand) return endCommandWord(words, word);
  return undefined;
}

function endSpecialWord(words: Words, word: string): void {
  if (words.mode === 'case' && word === 'in') {
    words.mode = 'patterns';
    words.caseDepth++;
  } else if (words.mode === 'patterns' && word === 'esac') {
    words.mode = 'commands';
    words.caseDepth--;
  } else if (words.mode === 'test' && word === ']]') words.mode = 'commands';
}

function endCommandWord(words: Words, word: string): string | undefined {
  if (assignment.test(word) || keywords.has(word)) return undefined;
  if (words.wrapper !== '' && word.startsWith('-')) {
    // `command -v` asks where a program is, and runs none.
    if (words.wrapper === 'command' && /[vV]/.test(word)) words.expectsCommand = false;
    return undefined;
  }
  words.wrapper = wrappers.has(word) ? word : '';
  words.expectsCommand = words.wrapper !== '';
  if (word === 'case') words.mode = 'case';
  if (word === '[[') words.mode = 'test';
  if (word === 'esac') words.caseDepth = Math.max(0, words.caseDepth - 1);
  return word;
}
