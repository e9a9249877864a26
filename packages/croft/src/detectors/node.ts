import { z } from 'zod';
import type { Argv, Check, Detector, Profile, ProjectDirectory } from '../core/profile.ts';

const managers = ['bun', 'pnpm', 'yarn', 'npm'] as const;
type Manager = (typeof managers)[number];

/** By lock file, in the order in which they count. */
const lockFiles: readonly (readonly [string, Manager])[] = [
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];

const endings = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'];
const named = (base: string) => endings.map((ending) => `${base}.${ending}`);
const eslintFiles = [
  ...named('eslint.config'),
  ...['.eslintrc', '.eslintrc.json', '.eslintrc.js', '.eslintrc.cjs', '.eslintrc.yml', '.eslintrc.yaml'],
];
const prettierFiles = [
  ...[
    '.prettierrc',
    '.prettierrc.json',
    '.prettierrc.json5',
    '.prettierrc.yml',
    '.prettierrc.yaml',
    '.prettierrc.toml',
  ],
  ...[...named('.prettierrc'), ...named('prettier.config')],
];

const Manifest = z.object({
  packageManager: z.string().optional().catch(undefined),
  scripts: z.record(z.string(), z.string()).catch({}).default({}),
  dependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  devDependencies: z.record(z.string(), z.unknown()).catch({}).default({}),
  eslintConfig: z.unknown().optional(),
  prettier: z.unknown().optional(),
  jest: z.unknown().optional(),
  mocha: z.unknown().optional(),
  ava: z.unknown().optional(),
});
type Manifest = z.output<typeof Manifest>;

export const node: Detector = {
  language: 'node',
  aliases: ['javascript', 'js', 'typescript', 'ts', 'nodejs'],
  isMarker: (name) => name === 'package.json',
  async detect(project) {
    const manifest = parseManifest(await project.read('package.json'));
    const manager = manifest && findManager(project, manifest);
    return {
      language: 'node',
      ecosystem: project.has('tsconfig.json') ? 'typescript' : 'javascript',
      directory: project.path,
      extensions: ['.js', '.mjs', '.cjs', '.jsx', '.ts', '.mts', '.cts', '.tsx'],
      packageManager: manager,
      install: [manager ?? 'npm', 'install'],
      dependencyDirectory: 'node_modules',
      scripts: toScripts(manifest?.scripts ?? {}, manager ?? 'npm'),
      ...(await findFormat(project, manifest)),
      lint: await findLint(project, manifest),
      typecheck: await findTypecheck(project),
      test: await findTest(project, manifest, manager),
    };
  },
};

function parseManifest(text: string | undefined): Manifest | undefined {
  try {
    return Manifest.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

function findManager(project: ProjectDirectory, { packageManager = '' }: Manifest): Manager {
  const [name = ''] = packageManager.split('@');
  const declared = managers.find((manager) => manager === name);
  return declared ?? lockFiles.find(([file]) => project.has(file))?.[1] ?? 'npm';
}

function toScripts(scripts: Readonly<Record<string, string>>, manager: Manager): Record<string, Argv> {
  return Object.fromEntries(Object.keys(scripts).map((name) => [name, [manager, 'run', name]]));
}

const local = (project: ProjectDirectory, name: string) => project.findProgram(['node_modules/.bin'], name);

async function findLint(project: ProjectDirectory, manifest: Manifest | undefined): Promise<Check | undefined> {
  if (project.has('biome.json', 'biome.jsonc')) return toCheck(project, 'biome', 'lint', '--reporter=json', '$FILES');
  if (project.has('.oxlintrc.json', 'oxlintrc.json')) return toCheck(project, 'oxlint', '--format=json', '$FILES');
  if (project.has(...eslintFiles) || manifest?.eslintConfig)
    return toCheck(project, 'eslint', '--format=json', '$FILES');
  return undefined;
}

async function findFormat(
  project: ProjectDirectory,
  manifest: Manifest | undefined,
): Promise<Pick<Profile, 'format' | 'formatCheck'>> {
  if (project.has('biome.json', 'biome.jsonc')) {
    const biome = await local(project, 'biome');
    return { format: [biome, 'format', '--write', '$FILES'], formatCheck: [biome, 'format', '$FILES'] };
  }
  if (!project.has(...prettierFiles) && !manifest?.prettier) return {};
  const prettier = await local(project, 'prettier');
  return { format: [prettier, '--write', '$FILES'], formatCheck: [prettier, '--check', '$FILES'] };
}

async function findTypecheck(project: ProjectDirectory): Promise<Check | undefined> {
  return project.has('tsconfig.json') ? toCheck(project, 'tsc', '--noEmit', '--pretty', 'false') : undefined;
}

/** What the script for tests runs, or what there are settings for. */
async function findTest(
  project: ProjectDirectory,
  manifest: Manifest | undefined,
  manager: Manager | undefined,
): Promise<Check | undefined> {
  const script = manifest?.scripts.test ?? '';
  const isIn = (word: string) => new RegExp(`(^|[\\s/&;|])${word}(\\s|$)`).test(script);
  if (isIn('vitest')) return toCheck(project, 'vitest', 'run', '$FILES');
  if (isIn('jest')) return toCheck(project, 'jest', '$FILES');
  if (isIn('mocha')) return toCheck(project, 'mocha', '$FILES');
  if (/\bnode\b.*\s--test\b/.test(script)) return { tool: 'node-test', argv: ['node', '--test', '$FILES'] };
  if (/\bbun test\b/.test(script)) return { tool: 'bun-test', argv: ['bun', 'test', '$FILES'] };
  if (project.has(...named('vitest.config'))) return toCheck(project, 'vitest', 'run', '$FILES');
  if (project.has(...named('jest.config'), 'jest.config.json') || manifest?.jest)
    return toCheck(project, 'jest', '$FILES');
  if (project.has('.mocharc.js', '.mocharc.cjs', '.mocharc.json', '.mocharc.yml', '.mocharc.yaml') || manifest?.mocha)
    return toCheck(project, 'mocha', '$FILES');
  if (script !== '') return { tool: 'script', argv: [manager ?? 'npm', 'run', 'test'] };
  return manager === 'bun' ? { tool: 'bun-test', argv: ['bun', 'test', '$FILES'] } : undefined;
}

async function toCheck(project: ProjectDirectory, tool: string, ...rest: string[]): Promise<Check> {
  return { tool, argv: [await local(project, tool), ...rest] };
}
