import { z } from 'zod';
import type { ProjectDirectory } from '../../core/projects/profile.ts';
import { readSettings } from '../../core/projects/read-settings.ts';

export const managers = ['bun', 'pnpm', 'yarn', 'npm'] as const;
export type Manager = (typeof managers)[number];

/** By lock file, in the order in which they count. */
const lockFiles: Readonly<Record<string, Manager>> = {
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

const Names = z.record(z.string(), z.unknown()).catch({}).default({});
const Manifest = z.object({
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
});
export type Manifest = z.output<typeof Manifest>;

/** `package.json`, or nothing if it is none. */
export async function readManifest(project: ProjectDirectory): Promise<Manifest | undefined> {
  return readSettings(await project.read('package.json'), JSON.parse, Manifest);
}

/** A package of a monorepo has its lock file above it. */
export function findManager(project: ProjectDirectory, { packageManager = '' }: Manifest): Manager {
  const [name = ''] = packageManager.split('@');
  const declared = managers.find((manager) => manager === name);
  if (declared) return declared;
  const lock =
    project
      .findAbove(...Object.keys(lockFiles))
      ?.split('/')
      .at(-1) ?? '';
  return lockFiles[lock] ?? 'npm';
}

export function dependsOn({ dependencies, devDependencies }: Manifest, name: string): boolean {
  return Object.hasOwn(dependencies, name) || Object.hasOwn(devDependencies, name);
}
