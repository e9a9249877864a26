import { z } from 'zod';
import { parseSettings } from '../../core/projects/parse-settings.ts';
import {
  type CheckCommand,
  type Detector,
  type Profile,
  type ProjectDirectory,
  toScripts,
} from '../../core/projects/profile.ts';
import { parseJsonc } from '../../lib/text/jsonc.ts';
import { biomeFiles, findLintCommand, toCheck } from './find-lint-command.ts';
import { configFileNames, findLocalTool } from './find-local-tool.ts';
import { findTestCommand } from './find-test-command.ts';
import {
  dependsOn,
  findManager,
  type NodePackageManager,
  type PackageManifest,
  readPackageManifest,
} from './package-manifest.ts';
import { readBareScript } from './read-bare-script.ts';

const prettierFiles = [
  ...['', '.json', '.json5', '.yml', '.yaml', '.toml'].map((ending) => `.prettierrc${ending}`),
  ...[...configFileNames('.prettierrc'), ...configFileNames('prettier.config')],
];

export const node: Detector = {
  language: 'node',
  aliases: ['javascript', 'js', 'typescript', 'ts', 'nodejs'],
  isMarker: (name) => name === 'package.json',
  async detect(project) {
    const { manifest, problem } = await readPackageManifest(project);
    const manager = manifest && findManager(project, manifest);
    return {
      language: 'node',
      ecosystem: project.has('tsconfig.json') ? 'typescript' : 'javascript',
      directory: project.path,
      extensions: ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'],
      packageManager: manager,
      install: [manager ?? 'npm', 'install'],
      dependencyDirectory: 'node_modules',
      scripts: toScripts(Object.keys(manifest?.scripts ?? {}), (name) => [manager ?? 'npm', 'run', name]),
      ...(await findFormat(project, manifest)),
      lint: await findLintCommand(project, manifest, manager ?? 'npm'),
      typecheck: await findTypecheck(project, manifest, manager ?? 'npm'),
      test: await findTestCommand(project, manifest, manager ?? 'npm'),
      ...(problem !== undefined && { problems: [problem] }),
    };
  },
};

async function findFormat(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
): Promise<Pick<Profile, 'format' | 'formatCheck'>> {
  if (project.findAbove(...biomeFiles)) {
    const biome = await findLocalTool(project, 'biome');
    return { format: [...biome, 'format', '--write', '$FILES'], formatCheck: [...biome, 'format', '$FILES'] };
  }
  const isSet = project.findAbove(...prettierFiles) || manifest?.prettier;
  if (!isSet && !(manifest && dependsOn(manifest, 'prettier'))) return {};
  const prettier = await findLocalTool(project, 'prettier');
  return { format: [...prettier, '--write', '$FILES'], formatCheck: [...prettier, '--check', '$FILES'] };
}

const Solution = z.object({ references: z.array(z.unknown()).min(1), files: z.array(z.unknown()).max(0) });

/**
 * Builds the compiler command from `tsconfig.json`. Settings that only refer to others check nothing without `--build`,
 * and would pass. No version of the compiler builds projects that refer to each other without writing output:
 * `--noEmit` fails there.
 */
async function findBySettings(project: ProjectDirectory): Promise<CheckCommand | undefined> {
  if (!project.has('tsconfig.json')) return undefined;
  const isSolution = parseSettings(await project.read('tsconfig.json'), parseJsonc, Solution) !== undefined;
  return toCheck(project, 'tsc', isSolution ? '--build' : '--noEmit', '--pretty', 'false');
}

const typecheckScripts = ['typecheck', 'type-check', 'check-types'];
const ofTsc = {
  tools: ['tsc'],
  valued: new Set(['-p', '--project', '-t', '--target', '-m', '--module', '--outDir', '--rootDir', '--types', '--lib']),
  answering: { flags: ['--watch', '-w', '--preserveWatchOutput'], valued: ['--pretty'] },
};

/**
 * Finds the type checker: what its script runs, if that is only the compiler; else the script itself, or the compiler
 * if there is a `tsconfig.json`.
 */
async function findTypecheck(
  project: ProjectDirectory,
  manifest: PackageManifest | undefined,
  manager: NodePackageManager,
): Promise<CheckCommand | undefined> {
  const name = typecheckScripts.find((one) => manifest && Object.hasOwn(manifest.scripts, one));
  const bySettings = await findBySettings(project);
  if (!manifest || name === undefined || /(^|\s)(--watch|-w)(\s|$)/.test(manifest.scripts[name] ?? ''))
    return bySettings;
  const bare = readBareScript(manifest, name, ofTsc);
  const whole = { tool: 'lint-script', argv: [manager, 'run', name] } as const;
  if (!bare) return bySettings ? { ...bySettings, whole } : whole;
  const words = [...bare.options, ...bare.operands];
  const isOwn = words.some((word) => ['--noEmit', '-b', '--build'].includes(word));
  const quiet = isOwn ? [] : ['--noEmit'];
  return toCheck(project, 'tsc', ...words, ...quiet, '--pretty', 'false');
}
