import { z } from 'zod';
import { parseSettings } from '../../core/projects/parse-settings.ts';
import type { ProjectDirectory } from '../../core/projects/profile.ts';
import { errorMessage } from '../../lib/error-message.ts';

const nodePackageManagers = ['bun', 'pnpm', 'yarn', 'npm'] as const;
export type NodePackageManager = (typeof nodePackageManagers)[number];

/** Package managers by lock file, in order of precedence. */
const lockFiles: Readonly<Record<string, NodePackageManager>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

const Names = z.record(z.string(), z.unknown()).catch({}).default({});
const PackageManifest = z.object({
  packageManager: z.string().optional().catch(undefined),
  scripts: Names.transform((scripts) =>
    Object.fromEntries(Object.entries(scripts).filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
  ),
  dependencies: Names,
  devDependencies: Names,
  eslintConfig: z.unknown().optional(),
  prettier: z.unknown().optional(),
  jest: z.unknown().optional(),
  mocha: z.unknown().optional(),
  ava: z.unknown().optional(),
  xo: z.unknown().optional(),
});
export type PackageManifest = z.output<typeof PackageManifest>;

interface PackageManifestResult {
  /** Left out if the file is invalid. */
  readonly manifest: PackageManifest | undefined;
  /** Why the file is invalid, as text for people. */
  readonly problem: string | undefined;
}

export async function readPackageManifest(project: ProjectDirectory): Promise<PackageManifestResult> {
  const text = await project.read('package.json');
  const manifest = parseSettings(text, JSON.parse, PackageManifest);
  return { manifest, problem: manifest ? undefined : whyUnreadable(text) };
}

const maxProblem = 200;

function whyUnreadable(text: string | undefined): string {
  if (text === undefined) return 'package.json cannot be read';
  try {
    JSON.parse(text);
    return 'package.json is not a JSON object';
  } catch (thrown) {
    const said = errorMessage(thrown);
    return `package.json is not valid JSON: ${said.slice(0, maxProblem)}`;
  }
}

/** Finds the package manager. A package of a monorepo has its lock file in a directory above. */
export function findManager(project: ProjectDirectory, { packageManager = '' }: PackageManifest): NodePackageManager {
  const [name = ''] = packageManager.split('@');
  const declared = nodePackageManagers.find((manager) => manager === name);
  if (declared) return declared;
  const lock =
    project
      .findAbove(...Object.keys(lockFiles))
      ?.split('/')
      .at(-1) ?? '';
  return lockFiles[lock] ?? 'npm';
}

export function dependsOn({ dependencies, devDependencies }: PackageManifest, name: string): boolean {
  return Object.hasOwn(dependencies, name) || Object.hasOwn(devDependencies, name);
}
