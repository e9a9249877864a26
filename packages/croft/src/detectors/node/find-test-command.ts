import type { Argv, CheckCommand, ProjectDirectory } from '../../core/projects/profile.ts';
import { configFileNames, findLocalTool } from './find-local-tool.ts';
import { dependsOn, type NodePackageManager, type PackageManifest } from './package-manifest.ts';
import { readAlias, scriptArgv, withArguments } from './package-scripts.ts';
import { readScriptTestCommand, type ScriptTestCommand } from './read-script-test-command.ts';
import { splitOperands, toNamedFiles } from './split-operands.ts';

interface Tester {
  readonly tool: 'vitest' | 'jest' | 'mocha' | 'ava';
  readonly settings: readonly string[];
}

const testers: readonly Tester[] = [
  { tool: 'vitest', settings: [...configFileNames('vitest.config'), ...configFileNames('vitest.workspace')] },
  { tool: 'jest', settings: [...configFileNames('jest.config'), 'jest.config.json'] },
  { tool: 'mocha', settings: ['js', 'cjs', 'mjs', 'json', 'jsonc', 'yml', 'yaml'].map((end) => `.mocharc.${end}`) },
  { tool: 'ava', settings: configFileNames('ava.config') },
];

/** Finds the test command: the script `test` as it is or, without one, the test runner with a settings file. */
export async function findTestCommand(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
  manager: NodePackageManager,
): Promise<CheckCommand | undefined> {
  const scripts = manifest?.scripts ?? {};
  const line = lineOf(scripts, 'test');
  if (line !== '' && !line.includes('no test specified')) return readScript({ project, scripts, manager }, 'test');
  const found = await findBySettings(project, manifest);
  return found ?? (manager === 'bun' ? { tool: 'bun-test', argv: ['bun', 'test', '$FILES'] } : undefined);
}

interface Scripts {
  readonly project: ProjectDirectory;
  readonly scripts: Readonly<Record<string, string>>;
  readonly manager: NodePackageManager;
}

const maxAliases = 3;

function lineOf(scripts: Scripts['scripts'], name: string): string {
  return Object.hasOwn(scripts, name) ? (scripts[name]?.trim() ?? '') : '';
}

function hasHooks({ scripts }: Scripts, name: string): boolean {
  return lineOf(scripts, `pre${name}`) !== '' || lineOf(scripts, `post${name}`) !== '';
}

/**
 * Reads a script into one command for all tests and one for some of them. All tests always run through the script
 * itself, by its package manager and with its hooks: a part of it could pass where the rest fails.
 */
async function readScript(scripts: Scripts, name: string, aliases = 0): Promise<CheckCommand> {
  const line = lineOf(scripts.scripts, name);
  const whole: CheckCommand = { tool: 'script', argv: scriptArgv(scripts.manager, name) };
  const inner = readAlias(line);
  if (inner !== undefined && lineOf(scripts.scripts, inner) !== '') {
    if (aliases === maxAliases || hasHooks(scripts, name)) return whole;
    const check = await readScript(scripts, inner, aliases + 1);
    return check.tool === 'script' ? whole : { ...check, whole };
  }
  const call = readScriptTestCommand(line);
  return call ? readCall(scripts, name, call) : whole;
}

async function readCall(scripts: Scripts, name: string, call: ScriptTestCommand): Promise<CheckCommand> {
  const appended = toAppended(call, { manager: scripts.manager, name });
  const isBare = call.isAlone && !hasHooks(scripts, name);
  if (isBare) return { ...(await toDirect(scripts.project, call)), whole: appended };
  return appended.tool === 'script' ? appended : { ...appended, isOneOfSeveral: true };
}

/** Options that set a reporter: with one, the test runner cannot also report to Croft. */
const ownReporter = /^(?:-R$|-O$|--(?:reporters?|reporter-options?|outputFile|json|tap|test-reporter)\b)/;

/** Options that never end, or are for people. */
const notForPrograms = /^(run|watch|dev|--?w(atch.*)?|--ui|--open)$/;

/** Appends arguments to a script: they reach the last program of its line. `script` if nothing can be appended. */
function toAppended(
  { tool, words }: ScriptTestCommand,
  { manager, name }: { manager: NodePackageManager; name: string },
): CheckCommand {
  const { named: operands } = splitOperands(words.filter((word) => !notForPrograms.test(word)));
  // Node passes everything after the first file to the tests.
  const isClosed = words.some((word) => ownReporter.test(word)) || (tool === 'node-test' && operands.length > 0);
  if (isClosed) return { tool: 'script', argv: scriptArgv(manager, name) };
  // Old versions of vitest would keep watching even without a terminal.
  const isOpen = tool === 'vitest' && !words.some((word) => /^(?:run|related|bench|list|--run)$/.test(word));
  const argv: Argv = [...withArguments(manager, name), ...(isOpen ? ['--run'] : [])];
  // Requested files would be added to those that the script names, and not replace them.
  return { tool, argv: operands.length > 0 ? argv : [...argv, '$FILES'] };
}

/** Runs the test runner directly, for some of the tests: requested files replace those that the script names. */
async function toDirect(
  project: ProjectDirectory,
  { tool, program, words, patterns }: ScriptTestCommand,
): Promise<CheckCommand> {
  const isOurs = program.length === 1 && program[0] !== 'node';
  const start = isOurs ? await findLocalTool(project, program[0]) : program;
  const { options, named: operands } = splitOperands(words.filter((word) => !notForPrograms.test(word)));
  const verb = tool === 'vitest' ? ['run'] : [];
  const check: CheckCommand = { tool, argv: [...start, ...verb, ...options, '$FILES'] };
  return operands.length === 0 ? check : { ...check, named: toNamedFiles(operands, patterns) };
}

async function findBySettings(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
): Promise<CheckCommand | undefined> {
  const isSet = ({ tool, settings }: Tester) => project.has(...settings) || (tool !== 'vitest' && manifest?.[tool]);
  const tester =
    testers.find(isSet) ?? (manifest && testers.find(({ tool }) => dependsOn(manifest, tool) && tool !== 'mocha'));
  if (!tester) return undefined;
  return toDirect(project, {
    tool: tester.tool,
    program: [tester.tool],
    words: [],
    patterns: new Set(),
    isAlone: true,
  });
}
