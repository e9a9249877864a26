import type { Argv, ProjectDirectory } from '../../core/projects/profile.ts';

/**
 * Returns the command of an installed tool. With Plug'n'Play there is no `node_modules`, and `yarn run` finds the tool.
 * Unlike `npx`, `pnpx` and `yarn dlx`, it downloads nothing.
 */
export async function findLocalTool(project: ProjectDirectory, name: string): Promise<Argv> {
  const program = await project.findProgram(['node_modules/.bin'], name);
  return program === name && project.findAbove('.pnp.cjs') !== undefined ? ['yarn', 'run', name] : [program];
}

const endings = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'];

export function configFileNames(base: string): string[] {
  return endings.map((ending) => `${base}.${ending}`);
}
