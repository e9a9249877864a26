import type { Argv, Check, ProjectDirectory } from '../../core/projects/profile.ts';
import { findShellPatterns, toPlainCommands } from '../../lib/text/plain-commands.ts';
import { local, named } from './local.ts';
import { dependsOn, type Manager, type Manifest } from './manifest.ts';
import { splitOperands, toNamed } from './operands.ts';

interface Tester {
  readonly tool: 'vitest' | 'jest' | 'mocha' | 'ava';
  readonly settings: readonly string[];
  /** Comes first, always. */
  readonly verb: readonly string[];
}

const testers: readonly Tester[] = [
  { tool: 'vitest', verb: ['run'], settings: [...named('vitest.config'), ...named('vitest.workspace')] },
  { tool: 'jest', verb: [], settings: [...named('jest.config'), 'jest.config.json'] },
  {
    tool: 'mocha',
    verb: [],
    settings: ['js', 'cjs', 'mjs', 'json', 'jsonc', 'yml', 'yaml'].map((end) => `.mocharc.${end}`),
  },
  { tool: 'ava', verb: [], settings: named('ava.config') },
];

/** These never end, or are for people. */
const notForPrograms = /^(run|watch|dev|--?w(atch.*)?|--ui|--open)$/;

/** What the script for tests runs, else what there are settings for, else the script itself. */
export async function findTest(
  project: ProjectDirectory,
  manifest: Manifest | undefined,
  manager: Manager,
): Promise<Check | undefined> {
  const script = expand(manifest?.scripts ?? {}, 'test');
  const isNone = script === '' || script.includes('no test specified');
  const whole: Check = { tool: 'script', argv: [manager, 'run', 'test'] };
  // One of several runs would say nothing of the others.
  if (countRunners(script) > 1) return whole;
  const byScript = isNone ? undefined : await readScript(project, script);
  const found = byScript ?? (await findBySettings(project, manifest));
  if (found) return found;
  if (!isNone) return whole;
  return manager === 'bun' ? { tool: 'bun-test', argv: ['bun', 'test', '$FILES'] } : undefined;
}

const maxExpansions = 3;
const maxScript = 4000;
/** `bun test` is a runner, not a script. What comes after a `--` is for the script. */
const scriptCall = /\b(?:(?:npm|pnpm|yarn)(?: run)?|bun run) (?:-s |--silent )?([\w:.-]+)(?: --(?=\s))?/g;

/** With the scripts that it runs in their place. */
function expand(scripts: Readonly<Record<string, string>>, name: string): string {
  const get = (wanted: string) => (Object.hasOwn(scripts, wanted) ? scripts[wanted]?.slice(0, maxScript) : undefined);
  let line = get(name) ?? '';
  for (let round = 0; round < maxExpansions; round++) {
    line = line.replace(scriptCall, (call, inner: string) => get(inner) ?? call).slice(0, maxScript);
  }
  return line;
}

function countRunners(script: string): number {
  const isRunner = (words: readonly string[]) =>
    testers.some(({ tool }) => words.some((word) => isProgram(word, tool))) || readBuiltIn(words) !== undefined;
  return toPlainCommands(script).filter(isRunner).length;
}

async function readScript(project: ProjectDirectory, script: string): Promise<Check | undefined> {
  const commands = toPlainCommands(script);
  const patterns = findShellPatterns(script);
  for (const tester of testers) {
    for (const words of commands) {
      const at = words.findIndex((word) => isProgram(word, tester.tool));
      if (at < 0) continue;
      return toCheck(project, tester, { before: words.slice(0, at), after: words.slice(at + 1), patterns });
    }
  }
  const tester = testers.find(({ tool }) => new RegExp(`(^|[\\s/&;|])${tool}(\\s|$)`).test(script));
  if (tester) return toCheck(project, tester, { before: [], after: [], patterns });
  const built = commands.map((words) => readBuiltIn(words, patterns)).find((check) => check !== undefined);
  const [program, ...rest] = built?.argv ?? [];
  return built && program === 'tsx' ? { ...built, argv: [...(await local(project, 'tsx')), ...rest] } : built;
}

function isProgram(word: string, tool: string): boolean {
  const name = word.split('/').at(-1);
  return name === tool || name === `${tool}.js` || name === `${tool}.mjs`;
}

/** The runners of Node and Bun themselves. */
function readBuiltIn(words: readonly string[], patterns = noPatterns): Check | undefined {
  const node = words.findIndex((word) => word === 'node' || word === 'tsx');
  const [program, ...rest] = words.slice(Math.max(node, 0)).filter((word) => !notForPrograms.test(word));
  if (node >= 0 && program !== undefined && rest.includes('--test')) {
    return withOperands('node-test', [program], { words: rest, patterns });
  }
  const bun = words.findIndex((word, index) => word === 'bun' && words[index + 1] === 'test');
  if (bun < 0) return undefined;
  const options = words.slice(bun + 2).filter((word) => !notForPrograms.test(word));
  return withOperands('bun-test', ['bun', 'test'], { words: options, patterns });
}

const noPatterns: ReadonlySet<string> = new Set();

interface Line {
  readonly words: readonly string[];
  readonly patterns: ReadonlySet<string>;
}

/** Files that are asked for take the place of those that the script names. */
function withOperands(tool: string, program: Argv, { words, patterns }: Line): Check {
  const { options, named } = splitOperands(words);
  const argv: Argv = [...program, ...options, '$FILES'];
  return named.length === 0 ? { tool, argv } : { tool, argv, named: toNamed(named, patterns) };
}

async function findBySettings(project: ProjectDirectory, manifest: Manifest | undefined): Promise<Check | undefined> {
  const bare = { before: [], after: [], patterns: noPatterns };
  const isSet = ({ tool, settings }: Tester) => project.has(...settings) || (tool !== 'vitest' && manifest?.[tool]);
  const tester =
    testers.find(isSet) ?? (manifest && testers.find(({ tool }) => dependsOn(manifest, tool) && tool !== 'mocha'));
  return tester ? toCheck(project, tester, bare) : undefined;
}

/** The words around a runner's name in a script. */
interface Call {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly patterns: ReadonlySet<string>;
}

async function toCheck(
  project: ProjectDirectory,
  { tool, verb }: Tester,
  { before, after, patterns }: Call,
): Promise<Check> {
  const words = after.filter((word) => !notForPrograms.test(word));
  const program = tool === 'jest' && needsModules(before) ? await jestWithModules(project) : await local(project, tool);
  return withOperands(tool, [...program, ...verb], { words, patterns });
}

const modulesFlag = '--experimental-vm-modules';

/** Jest runs modules only when Node is told so, which scripts do by a variable or an argument. */
function needsModules(before: readonly string[]): boolean {
  return before.some((word) => word.includes(modulesFlag));
}

async function jestWithModules(project: ProjectDirectory): Promise<Argv> {
  return ['node', modulesFlag, await project.findProgram(['node_modules/jest/bin'], 'jest.js')];
}
