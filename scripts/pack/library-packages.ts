import { join } from 'node:path';
import { copyInto, type Manifest, readManifest, root, runProgram, writeManifest, writeText } from './staged-package.ts';

/** Packages that programs import: compiled to JavaScript with declarations. Each may import those before it. */
export const libraries = ['protocol', 'sdk'];

export function stageLibraries(stage: string): string[] {
  return libraries.map((name) => stageLibrary(stage, name));
}

function stageLibrary(stage: string, name: string): string {
  const directory = join(stage, name);
  const source = join(root, 'packages', name);
  const project = join(stage, `tsconfig.${name}.json`);
  writeText(project, JSON.stringify(toProject(join(source, 'src'), join(directory, 'dist'), stage)));
  runProgram([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
  copyInto(directory, '.', ['LICENSE']);
  const manifest = readManifest(join('packages', name));
  writeManifest(directory, manifest, {
    exports: toCompiledExports(manifest.exports),
    ...(manifest.imports && { imports: toCompiled(manifest.imports) }),
    sideEffects: false,
    dependencies: manifest.dependencies,
    ...(manifest.peerDependencies && {
      peerDependencies: manifest.peerDependencies,
      peerDependenciesMeta: manifest.peerDependenciesMeta,
    }),
  });
  return directory;
}

/** The sources that a clone exports, as their compiled files with types. */
function toCompiledExports(sources: Manifest['exports'] = {}) {
  const entries = typeof sources === 'string' ? { '.': sources } : sources;
  const toEntry = (file: string) => ({ types: toCompiled(file).replace(/\.js$/, '.d.ts'), default: toCompiled(file) });
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, toEntry(file)]));
}

/** Every path of a source, at any depth, becomes that of its compiled file. */
function toCompiled<Paths>(paths: Paths): Paths {
  return JSON.parse(JSON.stringify(paths).replaceAll(/"\.\/src\/([^"]*)\.ts"/g, '"./dist/$1.js"')) as Paths;
}

/** Compiles the sources of a directory. They may import the libraries that are staged. */
export function toProject(source: string, outDir: string, stage: string) {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: source,
      outDir,
      typeRoots: [join(root, 'node_modules/@types')],
      paths: {
        zod: [join(root, 'node_modules/zod/index.d.ts')],
        ...Object.fromEntries(libraries.map((name) => [`@croft/${name}`, [join(stage, name, 'dist/index.d.ts')]])),
      },
    },
    include: [source],
    exclude: [join(source, '**/*.test.ts')],
  };
}
