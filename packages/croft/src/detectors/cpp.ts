import { makefiles } from '../core/projects/make-targets.ts';
import type { Argv, Check, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';
import { findMakeTargets } from '../lib/text/make-targets.ts';

const sources = ['.c', '.cc', '.cpp', '.cxx'];
const extensions = [...sources, '.h', '.hh', '.hpp', '.hxx'];
const buildDirectories = ['build', 'builddir', 'cmake-build-debug', 'out'];

const otherManifests = [
  ...['package.json', 'pyproject.toml', 'setup.py', 'go.mod', 'Cargo.toml', 'Gemfile', 'composer.json', 'mix.exs'],
  ...['build.zig', 'Package.swift', 'pom.xml', 'build.gradle', 'build.gradle.kts'],
];

type Commands = Pick<Profile, 'ecosystem' | 'typecheck' | 'test'>;

export const cpp: Detector = {
  language: 'cpp',
  aliases: ['c', 'c++', 'cxx', 'cmake', 'meson'],
  isMarker: (name) => name === 'CMakeLists.txt' || name === 'meson.build',
  isHint: (name) => makefiles.includes(name),
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
  // Most Makefiles are about something else, and some of it has a little C in it.
  const isBuilt =
    !project.has(...otherManifests) && project.filesBelow(sources).some((file) => file.split('/').length <= 2);
  return isBuilt ? toMake(project) : undefined;
}

/** Tests are of what was built last; an older build would say that all is well. What follows is for the last program. */
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

async function toMake(project: ProjectDirectory): Promise<Commands> {
  const name = makefiles.find((file) => project.has(file)) ?? '';
  const targets = findMakeTargets((await project.read(name)) ?? '');
  const target = ['test', 'check', 'tests'].find((one) => targets.includes(one));
  return {
    ecosystem: 'make',
    // Make says nothing in particular when it is done, but does when there is nothing left to do.
    typecheck: { tool: 'cmake-build', argv: inOrder('make', 'make') },
    test: target === undefined ? undefined : { tool: 'make-test', argv: ['make', target] },
  };
}

function findLint(project: ProjectDirectory, build: string): Check | undefined {
  if (project.findAbove('.clang-tidy') === undefined) return undefined;
  return { tool: 'clang-tidy', argv: ['clang-tidy', '-p', build, '$FILES'], all: project.filesBelow(sources) };
}

/** It takes files only, so for the whole project they are found first. */
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
