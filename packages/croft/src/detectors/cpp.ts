import { makefiles } from '../core/projects/add-make-targets.ts';
import type { Argv, CheckCommand, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';
import { findMakeTargets } from '../lib/text/shell/make-targets.ts';

const sources = ['.c', '.cc', '.cpp', '.cxx'];
const extensions = [...sources, '.h', '.hh', '.hpp', '.hxx'];
const buildDirectories = ['build', 'builddir', 'cmake-build-debug', 'out'];

/** Sources of the `configure` script, which writes the Makefile. */
const configures = ['configure.ac', 'configure.in'];

const otherManifests = [
  ...['package.json', 'pyproject.toml', 'setup.py', 'go.mod', 'Cargo.toml', 'Gemfile', 'composer.json', 'mix.exs'],
  ...['build.zig', 'Package.swift', 'pom.xml', 'build.gradle', 'build.gradle.kts'],
];

type Commands = Pick<Profile, 'ecosystem' | 'typecheck' | 'test'>;

export const cpp: Detector = {
  language: 'cpp',
  aliases: ['c', 'c++', 'cxx', 'cmake', 'meson'],
  isMarker: (name) => name === 'CMakeLists.txt' || name === 'meson.build',
  isHint: (name) => makefiles.includes(name) || configures.includes(name),
  async detect(project) {
    const build = buildDirectories.find((name) => project.directories.has(name)) ?? 'build';
    const commands = await findCommands(project, build);
    if (!commands) return undefined;
    return {
      language: 'cpp',
      directory: project.path,
      extensions,
      scripts: {},
      ...commands,
      ...findFormat(project),
      lint: findLint(project, build),
    };
  },
};

async function findCommands(project: ProjectDirectory, build: string): Promise<Commands | undefined> {
  if (project.has('CMakeLists.txt')) return toCmake(build);
  if (project.has('meson.build')) return toMeson(build);
  // Most Makefiles build something else, and some of those projects contain a little C.
  const isBuilt =
    !project.has(...otherManifests) && project.filesBelow(sources).some((file) => file.split('/').length <= 2);
  if (!isBuilt) return undefined;
  return project.has(...configures) ? toAutotools(project) : toMake(project);
}

/**
 * Joins commands, so that tests run on a fresh build: an old one could pass. Further arguments go to the last program.
 */
function inOrder(...commands: readonly string[]): Argv {
  return ['sh', '-c', [...commands.slice(0, -1), `exec ${commands.at(-1)} "$@"`].join(' && '), 'build'];
}

function toCmake(build: string): Commands {
  const configure = `cmake -S . -B ${build} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`;
  return {
    ecosystem: 'cmake',
    typecheck: { tool: 'cmake-build', argv: inOrder(configure, `cmake --build ${build}`) },
    test: { tool: 'ctest', argv: inOrder(configure, `cmake --build ${build}`, `ctest --test-dir ${build}`) },
  };
}

function toMeson(build: string): Commands {
  const configure = `{ test -f ${build}/build.ninja || meson setup ${build}; }`;
  return {
    ecosystem: 'meson',
    typecheck: { tool: 'cmake-build', argv: inOrder(configure, `meson compile -C ${build}`) },
    test: { tool: 'meson-test', argv: inOrder(configure, `meson test -C ${build}`) },
  };
}

const testTargets = ['test', 'check', 'tests'];

/** Configures only once: Make itself checks whether its Makefile is older than its sources. */
async function toAutotools(project: ProjectDirectory): Promise<Commands> {
  const configure = '{ test -f Makefile || { { test -x configure || autoreconf -fi; } && ./configure; }; }';
  const target = await findAutotoolsTest(project);
  return {
    ecosystem: 'autotools',
    typecheck: { tool: 'cmake-build', argv: inOrder(configure, 'make', 'make') },
    test: target === undefined ? undefined : { tool: 'make-test', argv: inOrder(configure, `make ${target}`) },
  };
}

/** Automake always defines `check`, which does nothing unless a Makefile.am names tests. */
const namesTests = /^(?:TESTS\b|check_\w+|check-local\b)/m;
const maxMakefiles = 50;

async function findAutotoolsTest(project: ProjectDirectory): Promise<string | undefined> {
  const isAutomake = project.has('Makefile.am');
  const text = (await project.read(isAutomake ? 'Makefile.am' : 'Makefile.in')) ?? '';
  const own = testTargets.find((one) => findMakeTargets(text).includes(one));
  if (!isAutomake) return own;
  const makefilesBelow = project.filesBelow(['Makefile.am']).slice(0, maxMakefiles);
  const texts = await Promise.all(makefilesBelow.map((file) => project.read(file)));
  return texts.some((one) => namesTests.test(one ?? '')) ? 'check' : (own ?? 'check');
}

async function findMakeTest(project: ProjectDirectory): Promise<CheckCommand | undefined> {
  const name = makefiles.find((file) => project.has(file)) ?? '';
  const text = (await project.read(name)) ?? '';
  const find = (targets: readonly string[]) => testTargets.find((one) => targets.includes(one));
  const own = find(findMakeTargets(text));
  if (own !== undefined) return { tool: 'make-test', argv: ['make', own] };
  // Some Makefiles pass unknown targets on to the Makefile of the sources.
  const below = find(findMakeTargets((await project.read('src/Makefile')) ?? ''));
  if (below === undefined) return undefined;
  return { tool: 'make-test', argv: /^\.DEFAULT:/m.test(text) ? ['make', below] : ['make', '-C', 'src', below] };
}

async function toMake(project: ProjectDirectory): Promise<Commands> {
  return {
    ecosystem: 'make',
    // Make prints no final message after a build, but does if there is nothing left to do, so it runs twice.
    typecheck: { tool: 'cmake-build', argv: inOrder('make', 'make') },
    test: await findMakeTest(project),
  };
}

function findLint(project: ProjectDirectory, build: string): CheckCommand | undefined {
  if (project.findAbove('.clang-tidy') === undefined) return undefined;
  return { tool: 'clang-tidy', argv: ['clang-tidy', '-p', build, '$FILES'], all: project.filesBelow(sources) };
}

/** Finds the files for a whole project, because clang-format takes files only. */
function findFormat(project: ProjectDirectory): Pick<Profile, 'format' | 'formatCheck'> {
  if (project.findAbove('.clang-format', '_clang-format') === undefined) return {};
  const names = extensions.map((ending) => `-name '*${ending}'`).join(' -o ');
  const find = `find . -type d \\( -name '.?*' -o -name ${buildDirectories.join(' -o -name ')} \\) -prune -o -type f \\( ${names} \\)`;
  const each = (options: string): Argv => [
    ...([
      'sh',
      '-c',
      `if [ "$*" = . ]; then ${find} -exec clang-format ${options} {} +; else exec clang-format ${options} "$@"; fi`,
    ] as const),
    ...['format', '$FILES'],
  ];
  return { format: each('-i'), formatCheck: each('--dry-run --Werror') };
}
