import { z } from 'zod';
import {
  type Check,
  type Detector,
  type Profile,
  type ProjectDirectory,
  toScripts,
} from '../../core/projects/profile.ts';
import { readSettings } from '../../core/projects/read-settings.ts';
import { parseJsonc } from '../../lib/text/jsonc.ts';
import { findTest } from './find-test.ts';
import { local, named } from './local.ts';
import { dependsOn, findManager, type Manifest, readManifest } from './manifest.ts';

const biomeFiles = ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc'];
const oxlintFiles = ['.oxlintrc.json', '.oxlintrc.jsonc', 'oxlintrc.json'];
const eslintFiles = [
  ...named('eslint.config'),
  ...['.eslintrc', '.eslintrc.json', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.yml', '.eslintrc.yaml'],
];
const prettierFiles = [
  ...['', '.json', '.json5', '.yml', '.yaml', '.toml'].map((ending) => `.prettierrc${ending}`),
  ...[...named('.prettierrc'), ...named('prettier.config')],
];

export const node: Detector = {
  language: 'node',
  aliases: ['javascript', 'js', 'typescript', 'ts', 'nodejs'],
  isMarker: (name) => name === 'package.json',
  async detect(project) {
    const manifest = await readManifest(project);
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
      lint: await findLint(project, manifest),
      typecheck: await findTypecheck(project),
      test: await findTest(project, manifest, manager ?? 'npm'),
    };
  },
};

/** That there are settings says enough: whether they can be read is for the tool to say. */
async function findLint(project: ProjectDirectory, manifest: Manifest | undefined): Promise<Check | undefined> {
  if (project.findAbove(...biomeFiles)) return toCheck(project, 'biome', 'lint', '$FILES');
  if (project.findAbove(...oxlintFiles)) return toCheck(project, 'oxlint', '$FILES');
  const isEslint = project.findAbove(...eslintFiles) || manifest?.eslintConfig;
  return isEslint ? toCheck(project, 'eslint', '$FILES') : undefined;
}

async function findFormat(
  project: ProjectDirectory,
  manifest: Manifest | undefined,
): Promise<Pick<Profile, 'format' | 'formatCheck'>> {
  if (project.findAbove(...biomeFiles)) {
    const biome = await local(project, 'biome');
    return { format: [...biome, 'format', '--write', '$FILES'], formatCheck: [...biome, 'format', '$FILES'] };
  }
  const isSet = project.findAbove(...prettierFiles) || manifest?.prettier;
  if (!isSet && !(manifest && dependsOn(manifest, 'prettier'))) return {};
  const prettier = await local(project, 'prettier');
  return { format: [...prettier, '--write', '$FILES'], formatCheck: [...prettier, '--check', '$FILES'] };
}

const Solution = z.object({ references: z.array(z.unknown()).min(1), files: z.array(z.unknown()).max(0) });

/** Settings that only refer to others check nothing without `--build`, and all would seem well. */
async function findTypecheck(project: ProjectDirectory): Promise<Check | undefined> {
  if (!project.has('tsconfig.json')) return undefined;
  const isSolution = readSettings(await project.read('tsconfig.json'), parseJsonc, Solution) !== undefined;
  return toCheck(project, 'tsc', ...(isSolution ? ['--build'] : []), '--noEmit', '--pretty', 'false');
}

async function toCheck(project: ProjectDirectory, tool: string, ...rest: string[]): Promise<Check> {
  return { tool, argv: [...(await local(project, tool)), ...rest] };
}
