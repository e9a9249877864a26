import { AppError } from '@croft/protocol';
import type { Profile } from '../projects/profile.ts';
import type { CheckOutput } from './test-runner.ts';

/** The program's own launcher says that it is not there, alone and as its first word. Findings never look like this. */
const launchers: readonly RegExp[] = [
  /^\S*python[\d.]*: No module named '?([\w.-]{1,100})'?$/,
  /^error: no such command: `([\w-]{1,100})`/,
  /^error: '([\w-]{1,100})' is not installed for the (?:custom )?toolchain/,
  /^bundler: command not found: ([\w-]{1,100})$/,
  /^find: ['‘]([\w.+-]{1,100})['’]: No such file or directory$/,
  /^\*\* \(Mix\) The task "([\w.]{1,100})" could not be found/,
];
/** What a shell says, and shims that stand in for one. */
const shell = /^(?:[\w./-]{1,200}: (?:line )?(?:\d{1,9}: )?)?(?:exec: )?([\w./+-]{1,200}): (?:command )?not found$/;
const notFound = 127;

/** What build tools say of one that they need, wherever they say it; and its name, where they do not say that. */
const builders: readonly (readonly [said: RegExp, program?: string])[] = [
  [/^CMake Error: CMake was unable to find a build program corresponding to "Unix Makefiles"/m, 'make'],
  [/^CMake Error: CMake was unable to find a build program corresponding to "Ninja/m, 'ninja'],
  [/^ {2}No CMAKE_C_COMPILER could be found\.$/m, 'cc'],
  [/^ {2}No CMAKE_CXX_COMPILER could be found\.$/m, 'c++'],
  [/^[^\n]{0,300}ERROR: Unknown compiler\(s\): \[\['([\w+.-]{1,100})'\]/m],
  [/^[^\n]{0,300}ERROR: Could not detect Ninja\b/m, 'ninja'],
  [/^g?make(?:\[\d{1,3}\])?: ([\w./+-]{1,200}): No such file or directory$(?=[\s\S]{0,500}Error 127)/m],
  [/^\/bin\/sh: (?:line )?\d{1,9}: ([\w./+-]{1,200}): (?:command )?not found$(?=[\s\S]{0,500}Error 127)/m],
  [/^error: linker `([\w+.-]{1,100})` not found$/m],
  [/^cgo: C compiler "([\w+.-]{1,100})" not found/m],
  [/^\[ERROR\] No compiler is provided in this environment\./m, 'javac'],
  [/^(?:ERROR|Error): JAVA_HOME is not (?:set|defined)\b/m, 'java'],
];
const searched = 20_000;

/** The program that could not be started by the one that was, or nothing. */
export function findMissing({ stdout, stderr, exitCode }: CheckOutput): string | undefined {
  if (exitCode === 0) return undefined;
  const [first = ''] = stderr.trimStart().slice(0, 1000).split('\n');
  // A shell goes on until it comes to what is not there, and that is its last word.
  const last = exitCode === notFound ? (stderr.slice(-1000).trimEnd().split('\n').at(-1) ?? '') : '';
  const patterns = exitCode === notFound ? [...launchers, shell] : launchers;
  const found = patterns.map((pattern) => pattern.exec(first.trim())?.[1]).find((name) => name !== undefined);
  return found ?? shell.exec(last.trim())?.[1] ?? findBuilder(`${stderr.slice(-searched)}\n${stdout.slice(-searched)}`);
}

function findBuilder(said: string): string | undefined {
  for (const [pattern, program] of builders) {
    const match = pattern.exec(said);
    if (match) return program ?? match[1];
  }
  return undefined;
}

/** What brings them on Debian. A project's own tools come with the project. */
const packages: Readonly<Record<string, string>> = {
  ...{ cmake: 'cmake', ctest: 'cmake', make: 'make', ninja: 'ninja-build', meson: 'meson', cc: 'gcc', gcc: 'gcc' },
  ...{ 'c++': 'g++', 'g++': 'g++', clang: 'clang', 'clang-tidy': 'clang-tidy', 'clang-format': 'clang-format' },
  ...{ go: 'golang-go', gofmt: 'golang-go', cargo: 'cargo', rustc: 'rustc', rustfmt: 'rustfmt', clippy: 'rust-clippy' },
  ...{ 'cargo-clippy': 'rust-clippy', java: 'default-jdk-headless', javac: 'default-jdk-headless', mvn: 'maven' },
  ...{ gradle: 'gradle', node: 'nodejs', npm: 'npm', python3: 'python3', ruby: 'ruby', rake: 'rake', mix: 'elixir' },
  ...{ bundle: 'ruby-bundler', php: 'php-cli', composer: 'composer', shellcheck: 'shellcheck', shfmt: 'shfmt' },
};

interface Missing {
  readonly profile: Profile;
  /** Who asked for it, as callers name it. */
  readonly tool?: string | undefined;
  readonly cause?: unknown;
}

/** The same words whoever asked for it: which program, and what may bring it. */
export function toolMissing(program: string, { profile, tool, cause }: Missing): AppError {
  const name = program.split('/').at(-1) ?? program;
  const debian = Object.hasOwn(packages, name) ? packages[name] : undefined;
  const install = profile.install?.[0] === program ? undefined : profile.install?.join(' ');
  const brings = debian === undefined ? install : `apt-get install ${debian}`;
  const next =
    brings === undefined ? '' : debian === undefined ? `; it may come with: ${brings}` : `; on Debian: ${brings}`;
  return new AppError('E_TOOL_MISSING', `${tool ? `${tool}: ` : ''}${program}: not found on PATH${next}`, {
    details: { program, ...(brings !== undefined && { install: brings }) },
    cause,
  });
}

export function isMissing(thrown: unknown): thrown is AppError {
  return AppError.is(thrown) && thrown.code === 'E_TOOL_MISSING';
}
