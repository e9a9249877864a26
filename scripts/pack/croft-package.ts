import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { bundleInto } from '../bundle.ts';
import { toProject } from './library-packages.ts';
import type { NativePackage } from './native-packages.ts';
import {
  copyInto,
  type Manifest,
  pinVersions,
  readManifest,
  root,
  runProgram,
  writeManifest,
  writeText,
} from './staged-package.ts';
import { describeLicences } from './third-party-notices.ts';

/** Packages that have files which the program opens by path. All others are in the bundle. */
const packagesByPath = [
  ...['@repomix/tree-sitter-wasms', '@vscode/tree-sitter-wasm', 'web-tree-sitter'],
  ...['@resvg/resvg-wasm', 'dejavu-fonts-ttf', 'node-api-headers', 'pyright', 'typescript'],
];

/** A file of each package that the page has parts of. */
function packagesOfPage(): string[] {
  const { devDependencies = {} } = readManifest('packages/dashboard');
  const isTool = (name: string) => name === 'vite' || name.startsWith('@croft/');
  const names = Object.keys(devDependencies).filter((name) => !isTool(name));
  return names.map((name) => join(root, 'node_modules', name, 'package.json'));
}

/** The name by which registries of MCP servers know the package: `server.json` has the same. */
export const mcpName = 'io.github.croft-dev/croft';

/**
 * Declarations for the import of `create-croft.ts` from the bundle, so that the code behind it is not compiled a second
 * time.
 */
const embeddedTypes = `export function openEmbedded(options: object): Promise<{
  readonly fetch: typeof globalThis.fetch;
  readonly key: string;
  close(): Promise<void>;
}>;
`;

/** Compiles what programs import. Its class and its errors are those of the SDK that they import too. */
function compileEmbedded(stage: string, target: string): void {
  const [project, sources] = [join(stage, 'tsconfig.embedded.json'), join(stage, 'embedded')];
  copyInto(sources, 'packages/croft/src/embedded', ['create-croft.ts']);
  writeText(join(sources, 'package.json'), '{ "type": "module" }\n');
  writeText(join(sources, 'open-embedded-platform.d.ts'), embeddedTypes);
  writeText(project, JSON.stringify(toProject(sources, target, stage)));
  runProgram([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', project]);
}

/** The program: its bundle, the sources of the native files, and their expected hashes. */
export async function stageCroft(
  stage: string,
  manifest: Manifest,
  natives: readonly NativePackage[],
): Promise<string> {
  const directory = join(stage, 'croft');
  const files = await bundleInto(join(directory, 'dist'), ['embedded/open-embedded-platform.ts']);
  compileEmbedded(stage, join(directory, 'dist'));
  copyInto(directory, '.', ['LICENSE', 'README.md', 'CHANGELOG.md']);
  copyInto(directory, 'packages/croft', ['bin/croft.mjs', 'bin/start.mjs', 'bin/bundle.mjs', 'native', 'assets']);
  // Set-up built the page and the documentation.
  cpSync(join(root, 'packages/dashboard/dist'), join(directory, 'page'), { recursive: true });
  cpSync(join(root, 'docs/dist'), join(directory, 'docs'), { recursive: true });
  writeText(join(directory, 'THIRD-PARTY-NOTICES.txt'), describeLicences([...files, ...packagesOfPage()]));
  const hashes = Object.fromEntries(natives.map(({ name, hashes }) => [name, hashes]));
  writeText(join(directory, 'native/hashes.json'), `${JSON.stringify(hashes, null, 2)}\n`);
  writeManifest(directory, manifest, {
    mcpName,
    bin: { croft: 'bin/croft.mjs' },
    exports: { '.': { types: './dist/create-croft.d.ts', default: './dist/create-croft.js' } },
    engines: manifest.engines,
    dependencies: { '@croft/sdk': manifest.version, ...pinVersions(packagesByPath) },
    optionalDependencies: {
      ...Object.fromEntries(natives.map(({ name }) => [name, manifest.version])),
      ...pinVersions(Object.keys(manifest.optionalDependencies ?? {})),
    },
  });
  return directory;
}
