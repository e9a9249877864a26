import type { KnownCheck } from '../history/history.ts';
import type { Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tool.ts';

type Verdict = Pick<KnownCheck, 'tool' | 'project' | 'verdict'>;

/** Runs checks, and has the history know what they said of the tree they were run on. */
export async function tellHistory<T>(
  { workspace: { history } }: Pick<ToolContext, 'workspace'>,
  work: () => Promise<T>,
  toVerdicts: (result: T) => readonly Verdict[],
): Promise<T> {
  if (!history) return work();
  const seen = await history.look();
  const result = await work();
  const at = new Date().toISOString();
  for (const verdict of toVerdicts(result)) await history.learned({ ...verdict, at }, seen);
  return result;
}

export function nameProject({ language, directory }: Pick<Profile, 'language' | 'directory'>): string {
  return directory === '' ? language : `${language} in ${directory}`;
}
