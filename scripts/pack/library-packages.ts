import { join } from 'node:path';
import { copyInto, readManifest, root, runProgram, writeManifest, writeText } from './staged-package.ts';

/** Packages that programs import: compiled to JavaScript with declarations. Each may import those before it. */
export const libraries = ['protocol', 'sdk'];

export function stageLibraries(stage: string): string[] {
  return libraries.map((name) => stageLibrary(stage, name));
}

function stageLibrary(stage: string, name: string): string {
  const directory = join(stage, name);
  const source = join(root, 'packages', name);
  const project = join(stage, `tsconfig.${name}.json`);
  writeText(project, JSON.stringify(toProject(source, directory, stage)));
  runProgram([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
  copyInto(directory, '.', ['LICENSE']);
  const manifest = readManifest(join('packages', name));
  writeManifest(directory, manifest, {
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    sideEffects: false,
    dependencies: manifest.dependencies,
  });
  return directory;
}

function toProject(source: string, directory: string, stage: string) {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      noEmitOnError: true,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(source, 'src'),
      outDir: join(directory, 'dist'),
      typeRoots: [join(root, 'node_modules/@types')],
      paths: {
        zod: [join(root, 'node_modules/zod/index.d.ts')],
        ...Object.fromEntries(libraries.map((name) => [`@croft/${name}`, [join(stage, name, 'dist/index.d.ts')]])),
      },
    },
    include: [join(source, 'src')],
    exclude: [join(source, 'src/**/*.test.ts')],
  };
}
