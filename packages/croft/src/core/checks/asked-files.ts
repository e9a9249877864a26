import { AppError } from '@croft/protocol';
import type { Files } from '../files.ts';
import { toProjectPath } from '../projects/pick-projects.ts';
import type { Argv, Profile } from '../projects/profile.ts';
import type { Checks } from './checks.ts';
import type { Picked, TestRequest, TestRunner } from './test-runner.ts';

interface Choice {
  readonly language?: string | undefined;
  readonly path?: string | undefined;
  readonly files: readonly string[];
}

interface ProjectTests {
  readonly profile: Profile;
  /** From the root of the project; none are all. */
  readonly files: readonly string[];
}

/** The projects whose tests a call is about, each with those of the files that are its own. */
export async function chooseTests(checks: Checks, files: Files, choice: Choice): Promise<readonly ProjectTests[]> {
  const { language, path, files: asked } = choice;
  if (asked.length === 0) return (await checks.pick({ language, path })).map((profile) => ({ profile, files: [] }));
  const byProject = new Map<Profile, string[]>();
  for (const file of asked) {
    await mustBeThere(files, file);
    for (const profile of await checks.pick({ language, path: file }))
      byProject.set(profile, [...(byProject.get(profile) ?? []), toProjectPath(file, profile)]);
  }
  return [...byProject].map(([profile, own]) => ({ profile, files: own }));
}

/** Runners pass over files that are not there, and call what is left green. A test in a file may be named with it. */
async function mustBeThere(files: Files, file: string): Promise<void> {
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

/** A request that a runner cannot keep to is refused: other tests say nothing of those that are asked for. */
export function mustPick(runner: TestRunner, argv: Argv, { files, name }: Pick<TestRequest, 'files' | 'name'>): void {
  if (runner.takesOneFile && files.length > 1) throw oneAtATime(argv, files);
  const cannot = runner.cannotPick?.(argv) ?? (argv.includes('$FILES') ? [] : (['files'] as const));
  const asked: readonly Picked[] = [
    ...(files.length > 0 ? ['files' as const] : []),
    ...(name ? ['name' as const] : []),
  ];
  const refused = asked.filter((one) => cannot.includes(one));
  if (refused.length === 0) return;
  const what = refused.map((one) => `\`${one}\``).join(' and ');
  const command = argv.join(' ');
  throw new AppError(
    'E_INVALID_INPUT',
    `the tests cannot be narrowed by ${what}: ${command} always runs what it runs; leave out ${what} to run all of it`,
    { details: { command, refused } },
  );
}

function oneAtATime(argv: Argv, files: readonly string[]): AppError {
  const reason = `${argv[0]} finds tests by the class that a file is named after, and says nothing of a file without one`;
  return new AppError('E_INVALID_INPUT', `ask for one file at a time: ${reason}`, { details: { files } });
}
