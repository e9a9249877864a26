import type { Argv, Detector } from '../core/projects/profile.ts';

const solutions = ['.sln', '.slnx'];
const projects = ['.csproj', '.fsproj', '.vbproj'];

export const dotnet: Detector = {
  language: 'dotnet',
  aliases: ['csharp', 'c#', 'cs', 'fsharp', 'f#', '.net'],
  isMarker: (name) => endsWithOne(name, [...solutions, ...projects]),
  async detect(project) {
    const names = [...project.names];
    const own = names.filter((name) => endsWithOne(name, solutions));
    const isF = names.some((name) => name.endsWith('.fsproj'));
    // With several solutions or projects in a directory, `dotnet` asks which one to use.
    const meant = [...own, ...names.filter((name) => endsWithOne(name, projects))]
      .slice(0, 1)
      .map((name) => `./${name}`);
    const run = (verb: string, ...rest: string[]): Argv => ['dotnet', verb, ...meant, ...rest];
    return {
      language: 'dotnet',
      ecosystem: isF ? 'fsharp' : 'csharp',
      directory: project.path,
      extensions: ['.cs', '.fs', '.vb'],
      packageManager: 'nuget',
      install: run('restore'),
      format: run('format', '--no-restore', '--include', '$FILES'),
      formatCheck: run('format', '--no-restore', '--verify-no-changes', '--include', '$FILES'),
      // Analyzers run in the build, and an incremental build does not repeat their findings.
      lint: { tool: 'dotnet-build', argv: run('build', '--nologo', '--no-incremental') },
      typecheck: { tool: 'dotnet-build', argv: run('build', '--nologo', '--no-incremental') },
      test: { tool: 'dotnet-test', argv: run('test', '--nologo') },
      scripts: {},
      coversBelow: own.length > 0,
    };
  },
};

function endsWithOne(name: string, endings: readonly string[]): boolean {
  return endings.some((ending) => name.endsWith(ending));
}
