import { AppError } from '@croft/protocol';
import type { CheckOutput } from '../project-tools/test-runner.ts';
import type { Profile } from '../projects/profile.ts';

/** A launcher says that its program is missing, alone and as its first line. Findings never look like this. */
const launchers: readonly RegExp[] = [
  /^\S*python[\d.]*: No module named '?([\w.-]{1,100})'?$/,
  /^error: no such command: `([\w-]{1,100})`/,
  /^error: '([\w-]{1,100})' is not installed for the (?:custom )?toolchain/,
  /^bundler: command not found: ([\w-]{1,100})$/,
  /^find: ['‘]([\w.+-]{1,100})['’]: No such file or directory$/,
  /^\*\* \(Mix\) The task "([\w.]{1,100})" could not be found/,
];
/** Shells, and shims that stand in for a program. */
const shell = /^(?:[\w./-]{1,200}: (?:line )?(?:\d{1,9}: )?)?(?:exec: )?([\w./+-]{1,200}): (?:command )?not found$/;
const notFound = 127;

/**
 * Build tools report a missing program anywhere in their output. `program` is its name if the message does not have it.
 */
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

/** Returns the program that the started one could not find, or `undefined`. */
export function findMissingProgram({ stdout, stderr, exitCode }: CheckOutput): string | undefined {
  if (exitCode === 0) return undefined;
  const [first = ''] = stderr.trimStart().slice(0, 1000).split('\n');
  // A shell runs until it meets the missing command, so its last line names that command.
  const last = exitCode === notFound ? (stderr.slice(-1000).trimEnd().split('\n').at(-1) ?? '') : '';
  const patterns = exitCode === notFound ? [...launchers, shell] : launchers;
  const found = patterns.map((pattern) => pattern.exec(first.trim())?.[1]).find((name) => name !== undefined);
  return (
    found ??
    shell.exec(last.trim())?.[1] ??
    findMissingInBuild(`${stderr.slice(-searched)}\n${stdout.slice(-searched)}`)
  );
}

function findMissingInBuild(said: string): string | undefined {
  for (const [pattern, program] of builders) {
    const match = pattern.exec(said);
    if (match) return program ?? match[1];
  }
  return undefined;
}

/** Debian packages of programs. A project's own tools come with the project. */
const packages: Readonly<Record<string, string>> = {
  ...{ cmake: 'cmake', ctest: 'cmake', make: 'make', ninja: 'ninja-build', meson: 'meson', cc: 'gcc', gcc: 'gcc' },
  ...{ 'c++': 'g++', 'g++': 'g++', clang: 'clang', 'clang-tidy': 'clang-tidy', 'clang-format': 'clang-format' },
  ...{ go: 'golang-go', gofmt: 'golang-go', cargo: 'cargo', rustc: 'rustc', rustfmt: 'rustfmt', clippy: 'rust-clippy' },
  ...{ 'cargo-clippy': 'rust-clippy', java: 'default-jdk-headless', javac: 'default-jdk-headless', mvn: 'maven' },
  ...{ gradle: 'gradle', node: 'nodejs', npm: 'npm', python3: 'python3', ruby: 'ruby', rake: 'rake', mix: 'elixir' },
  ...{ bundle: 'ruby-bundler', php: 'php-cli', composer: 'composer', shellcheck: 'shellcheck', shfmt: 'shfmt' },
};

/** Install commands of linters that are not project dependencies. */
const ownInstalls: Readonly<Record<string, string>> = {
  'golangci-lint': 'go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@latest',
};

/** Package managers that install programs with the dependencies. Those of compiled languages install sources only. */
const bringsPrograms: ReadonlySet<string> = new Set([
  ...[
    'npm',
    'pnpm',
    'yarn',
    'bun',
    'deno',
    'pip',
    'pip3',
    'python',
    'python3',
    'uv',
    'poetry',
    'pdm',
    'pipenv',
    'hatch',
  ],
  ...['bundle', 'composer', 'mix'],
]);

const notADependencyHint =
  'It is not a dependency of the project: install it, or ask the person to; nothing is fetched unasked.';

interface MissingToolOptions {
  readonly profile: Profile;
  /** The calling tool, as callers name it. */
  readonly tool?: string | undefined;
  readonly cause?: unknown;
}

/** Builds `E_TOOL_MISSING`: which program is missing, and what may install it. */
export function missingToolError(program: string, { profile, tool, cause }: MissingToolOptions): AppError {
  const name = program.split('/').at(-1) ?? program;
  const { suffix, install, hint } = findInstall(name, program, profile);
  return new AppError('E_TOOL_MISSING', `${tool ? `${tool}: ` : ''}${program}: not found on PATH${suffix}`, {
    details: { program, ...(install !== undefined && { install }) },
    cause,
    hint,
  });
}

interface Install {
  readonly suffix: string;
  readonly install?: string;
  readonly hint?: string;
}

function findInstall(name: string, program: string, profile: Profile): Install {
  const debian = Object.hasOwn(packages, name) ? `apt-get install ${packages[name]}` : undefined;
  if (debian !== undefined) return { suffix: `; on Debian: ${debian}`, install: debian, hint: notADependencyHint };
  const own = Object.hasOwn(ownInstalls, name) ? ownInstalls[name] : undefined;
  if (own !== undefined) return { suffix: `; it comes with: ${own}`, install: own, hint: notADependencyHint };
  const [manager = program] = profile.install ?? [];
  if (manager === program) return { suffix: '' };
  if (!bringsPrograms.has(manager))
    return { suffix: '', hint: 'Ask the person to install it; nothing is fetched unasked.' };
  const install = profile.install?.join(' ') ?? '';
  return { suffix: `; it may come with: ${install}`, install };
}

export function isMissingToolError(thrown: unknown): thrown is AppError {
  return AppError.is(thrown) && thrown.code === 'E_TOOL_MISSING';
}
