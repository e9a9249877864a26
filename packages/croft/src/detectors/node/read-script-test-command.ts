import type { Argv } from '../../core/projects/profile.ts';
import { findShellPatterns, toPlainCommands } from '../../lib/text/shell/plain-commands.ts';
import { lastCommand } from './package-scripts.ts';
import { splitOperands } from './split-operands.ts';

type Tool = 'vitest' | 'jest' | 'mocha' | 'ava' | 'node-test' | 'bun-test';

/** A known test runner as the last command of a script. */
export interface ScriptTestCommand {
  readonly tool: Tool;
  readonly program: Argv;
  /** The arguments of the program. */
  readonly words: readonly string[];
  /** The arguments that a shell would expand. */
  readonly patterns: ReadonlySet<string>;
  /** The line has nothing else: no other command, variable or program. */
  readonly isAlone: boolean;
}

const programs: readonly Tool[] = ['vitest', 'jest', 'mocha', 'ava'];

/** Programs that start the program after their options. */
const launchers = new Set(['cross-env', 'env', 'npx', 'c8', 'nyc', 'node', 'bunx', 'dotenv']);
const assignment = /^\w+=/;

export function readScriptTestCommand(line: string): ScriptTestCommand | undefined {
  const last = lastCommand(line);
  if (!last) return undefined;
  const [words, ...others] = toPlainCommands(last.text);
  // A comment would swallow appended arguments.
  if (!words || others.length > 0 || words.some((word) => word.startsWith('#'))) return undefined;
  const first = words.findIndex((word) => !assignment.test(word));
  const call = readNamed(words, first) ?? readBuiltIn(words, first);
  if (!call) return undefined;
  const { at, ...rest } = call;
  return { ...rest, patterns: findShellPatterns(last.text), isAlone: at === 0 && last.isOnly };
}

type FoundCall = Pick<ScriptTestCommand, 'tool' | 'program' | 'words'> & { readonly at: number };

function readNamed(words: readonly string[], first: number): FoundCall | undefined {
  const at = words.findIndex((word) => programs.some((tool) => isProgram(word, tool)));
  const tool = programs.find((one) => isProgram(words[at] ?? '', one));
  if (tool === undefined || !isStarted(words, first, at)) return undefined;
  return { tool, program: [tool], words: words.slice(at + 1), at };
}

/** Reads a call of the built-in test runner of Node or Bun. */
function readBuiltIn(words: readonly string[], first: number): FoundCall | undefined {
  const at = words.findIndex((word, index) => index >= first && /^(?:node|tsx|bun)$/.test(word));
  const [program = '', ...rest] = words.slice(Math.max(at, 0));
  if (at < 0 || !isStarted(words, first, at)) return undefined;
  if (program === 'bun') {
    return rest[0] === 'test' ? { tool: 'bun-test', program: ['bun', 'test'], words: rest.slice(1), at } : undefined;
  }
  // Words after a file are arguments of that file.
  const option = rest.indexOf('--test');
  const isRunner = option >= 0 && splitOperands(rest.slice(0, option)).named.length === 0;
  return isRunner ? { tool: 'node-test', program: [program], words: rest, at } : undefined;
}

function isStarted(words: readonly string[], first: number, at: number): boolean {
  return at === first || (at > first && launchers.has(words[first] ?? ''));
}

/** Matches a program by its name, or by its path in `node_modules`: a script of the project may have the same name. */
function isProgram(word: string, tool: string): boolean {
  const name = word.split('/').at(-1);
  if (name !== word && !word.includes('node_modules/')) return false;
  return name === tool || name === `${tool}.js` || name === `${tool}.mjs`;
}
