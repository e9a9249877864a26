import type { Argv, ProjectDirectory } from '../../core/projects/profile.ts';

/**
 * A tool of the project. With Plug'n'Play there is no `node_modules`, and `yarn run` finds it; it fetches nothing, which
 * `npx`, `pnpx` and `yarn dlx` would.
 */
export async function local(project: ProjectDirectory, name: string): Promise<Argv> {
  const program = await project.findProgram(['node_modules/.bin'], name);
  return program === name && project.findAbove('.pnp.cjs') !== undefined ? ['yarn', 'run', name] : [program];
}

const endings = ['js', 'mjs', 'cjs', 'ts', 'mts', 'cts'];

export function named(base: string): string[] {
  return endings.map((ending) => `${base}.${ending}`);
}
