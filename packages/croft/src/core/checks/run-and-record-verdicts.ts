import type { CheckVerdict } from '../history/ports/history.ts';
import type { Profile } from '../projects/profile.ts';
import type { ToolContext } from '../tools/tool.ts';

type Verdict = Pick<CheckVerdict, 'tool' | 'project' | 'verdict'>;

/** Runs checks, and records their verdicts in the history for the tree they ran on. */
export async function runAndRecordVerdicts<T>(
  { workspace: { history } }: Pick<ToolContext, 'workspace'>,
  work: () => Promise<T>,
  toVerdicts: (result: T) => readonly Verdict[],
): Promise<T> {
  if (!history) return work();
  const capture = await history.captureSource();
  const result = await work();
  const at = new Date().toISOString();
  for (const verdict of toVerdicts(result)) await history.recordVerdict({ ...verdict, at }, capture);
  return result;
}

export function nameProject({ language, directory }: Pick<Profile, 'language' | 'directory'>): string {
  return directory === '' ? language : `${language} in ${directory}`;
}
