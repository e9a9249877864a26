import { AppError } from '@croft/protocol';
import type { Files } from '../../files/files.ts';
import { withFiles } from '../../project-tools/linter.ts';
import type { TestRequest, TestRunner, TestSelection } from '../../project-tools/test-runner.ts';
import { toProjectPath } from '../../projects/pick-projects.ts';
import type { Argv, Profile } from '../../projects/profile.ts';
import type { CheckRegistry } from '../check-registry.ts';
import { noTestCommandError } from './no-test-command-error.ts';
import { renderTestCommand } from './render-test-command.ts';

interface TestChoice {
  readonly language?: string | undefined;
  readonly path?: string | undefined;
  readonly files: readonly string[];
}

interface ProjectTests {
  readonly profile: Profile;
  /** Paths from the project root. Empty: all tests. */
  readonly files: readonly string[];
}

/** Chooses the projects whose tests a call runs, and assigns each requested file to its project. */
export async function chooseTests(
  checks: CheckRegistry,
  files: Files,
  choice: TestChoice,
): Promise<readonly ProjectTests[]> {
  const { language, path, files: asked } = choice;
  await mustExist(files, path);
  if (asked.length === 0) return chooseWhole(checks, await checks.pick({ language, path }));
  const byProject = new Map<Profile, string[]>();
  for (const file of asked) {
    await mustFindTestFile(files, file);
    for (const profile of await checks.pick({ language, path: file }))
      byProject.set(profile, [...(byProject.get(profile) ?? []), toProjectPath(file, profile)]);
  }
  return [...byProject].map(([profile, own]) => ({ profile, files: own }));
}

/** Keeps the projects that have tests. If none has, the error lists the projects below them that do. */
async function chooseWhole(checks: CheckRegistry, chosen: readonly Profile[]): Promise<readonly ProjectTests[]> {
  const able = chosen.filter(({ test }) => test !== undefined);
  const [first] = chosen;
  if (able.length > 0 || !first) return able.map((profile) => ({ profile, files: [] }));
  throw noTestCommandError(first, listProjectsWithTests(await checks.projects(), chosen));
}

const shownPackages = 30;

function listProjectsWithTests(all: readonly Profile[], chosen: readonly Profile[]): string {
  const isBelow = ({ directory }: Profile) =>
    chosen.some((one) => one.directory === '' || directory.startsWith(`${one.directory}/`));
  const tested = all.filter((profile) => profile.test !== undefined && isBelow(profile));
  if (tested.length === 0) return '';
  const names = [...new Set(tested.map(({ directory }) => directory))];
  const more = names.length > shownPackages ? ` and ${names.length - shownPackages} more` : '';
  return `; these below it have tests: ${names.slice(0, shownPackages).join(', ')}${more}; pass one as \`path\``;
}

/** Throws `E_FILE_NOT_FOUND` for a path that does not exist, even if a project lies around it. */
export async function mustExist(files: Files, path: string | undefined): Promise<void> {
  if (path === undefined || path === '') return;
  await files.stat(path).catch((thrown) => {
    if (!AppError.is(thrown) || thrown.code !== 'E_FILE_NOT_FOUND') throw thrown;
    throw new AppError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`, { details: { path } });
  });
}

/**
 * Rejects a missing test file: test runners skip missing files and report the rest as passed. The name may carry a
 * test, as in `a.py::test_b`.
 */
async function mustFindTestFile(files: Files, file: string): Promise<void> {
  const isThere = (path: string) =>
    files.stat(path).then(
      () => true,
      () => false,
    );
  if (/[*?{]/.test(file) || (await isThere(file))) return;
  const plain = file.replace(/(?:::|:\d|\[).*$/s, '').replace(/\/?\.\.\.$/, '');
  if (plain !== file && (plain === '' || (await isThere(plain)))) return;
  throw new AppError('E_FILE_NOT_FOUND', `no such test file: ${file}`, { details: { path: file } });
}

/**
 * Rejects a selection that the test runner cannot honour: a run of other tests proves nothing about the requested ones.
 */
export function rejectUnsupportedSelection(
  runner: TestRunner,
  argv: Argv,
  { files, name }: Pick<TestRequest, 'files' | 'name'>,
): void {
  if (runner.takesOneFile && files.length > 1) throw oneFileAtATimeError(argv, files);
  const cannot = runner.cannotPick?.(argv) ?? (argv.includes('$FILES') ? [] : (['files'] as const));
  const asked: readonly TestSelection[] = [
    ...(files.length > 0 ? ['files' as const] : []),
    ...(name ? ['name' as const] : []),
  ];
  const refused = asked.filter((one) => cannot.includes(one));
  if (refused.length === 0) return;
  const what = refused.map((one) => `\`${one}\``).join(' and ');
  const command = renderTestCommand(withFiles(argv, []));
  throw new AppError(
    'E_INVALID_INPUT',
    `the tests cannot be narrowed by ${what}: ${command} always runs all of its tests; leave out ${what} to run them`,
    { details: { command, refused } },
  );
}

function oneFileAtATimeError(argv: Argv, files: readonly string[]): AppError {
  const reason = `${argv[0]} finds tests by the class that a file is named after, and skips a file without one`;
  return new AppError('E_INVALID_INPUT', `ask for one file at a time: ${reason}`, { details: { files } });
}
