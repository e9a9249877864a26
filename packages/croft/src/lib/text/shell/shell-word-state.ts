/** The state of reading the words of shell commands. */
export interface ShellWordState {
  /** The current word, without its quotes. */
  current: string | undefined;
  /** Whether the next word is the name of a program. */
  expectsCommand: boolean;
  /** Whether the next word is the file of a redirection. */
  expectsFile: boolean;
  /** The program that will run the next command, such as `env`. */
  wrapper: string;
  /**
   * Only in mode `commands` can a word be a command: not after `case`, in the patterns after its `in`, or within `[[
   * ]]`.
   */
  mode: 'commands' | 'case' | 'patterns' | 'test';
  caseDepth: number;
}

const keywords = new Set(['!', '{', 'if', 'then', 'elif', 'else', 'while', 'until', 'do', 'coproc']);
const wrappers = new Set(['builtin', 'command', 'env', 'exec', 'nice', 'nohup', 'setsid', 'time']);
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

export function startWords(): ShellWordState {
  return {
    current: undefined,
    expectsCommand: true,
    expectsFile: false,
    wrapper: '',
    mode: 'commands',
    caseDepth: 0,
  };
}

/** Called at `;`, `&`, `|`, a newline or the `)` of a pattern. */
export function startCommand(words: ShellWordState): void {
  if (words.mode !== 'commands') return;
  words.expectsCommand = true;
  words.expectsFile = false;
  words.wrapper = '';
}

/** Ends the current word and returns it if it is the name of a program to run. */
export function endWord(words: ShellWordState): string | undefined {
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

function endSpecialWord(words: ShellWordState, word: string): void {
  if (words.mode === 'case' && word === 'in') {
    words.mode = 'patterns';
    words.caseDepth++;
  } else if (words.mode === 'patterns' && word === 'esac') {
    words.mode = 'commands';
    words.caseDepth--;
  } else if (words.mode === 'test' && word === ']]') words.mode = 'commands';
}

function endCommandWord(words: ShellWordState, word: string): string | undefined {
  if (assignment.test(word) || keywords.has(word)) return undefined;
  if (words.wrapper !== '' && word.startsWith('-')) {
    // `command -v` asks where a program is and runs none.
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
