import { posix } from 'node:path';
import { findMakeTargets } from '../../lib/text/shell/make-targets.ts';
import { type Argv, type Profile, type ProjectDirectory, toScripts } from './profile.ts';

/** File names in the order in which make looks for them. */
export const makefiles = ['GNUmakefile', 'makefile', 'Makefile'];

/**
 * Adds the targets of a Makefile as scripts to the projects beside it or, if there are none, to those below. A Makefile
 * is not a language of its own: most workspaces would have one more language than people expect.
 */
export async function addMakeTargets(
  projects: readonly ProjectDirectory[],
  profiles: readonly Profile[],
): Promise<readonly Profile[]> {
  let changed = profiles;
  for (const project of projects.toReversed()) {
    const targets = await readTargets(project);
    if (targets.length > 0) changed = addTo(changed, project.path, targets);
  }
  return changed;
}

async function readTargets(project: ProjectDirectory): Promise<string[]> {
  const name = makefiles.find((one) => project.has(one));
  return name === undefined ? [] : findMakeTargets((await project.read(name)) ?? '');
}

function addTo(profiles: readonly Profile[], path: string, targets: readonly string[]): readonly Profile[] {
  const isBeside = profiles.some(({ directory }) => directory === path);
  return profiles.map((profile) => {
    const { directory, scripts } = profile;
    const isMeant = isBeside ? directory === path : path === '' || directory.startsWith(`${path}/`);
    return isMeant
      ? { ...profile, scripts: { ...toMake(targets, posix.relative(directory, path)), ...scripts } }
      : profile;
  });
}

function toMake(targets: readonly string[], makefileDirectory: string): Readonly<Record<string, Argv>> {
  const directoryOption = makefileDirectory === '' ? [] : ['-C', makefileDirectory];
  return toScripts(targets, (name) => ['make', ...directoryOption, name]);
}
