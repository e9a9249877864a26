import type { AttachedWorkspace } from '../../core/accounts/cascade.ts';
import { type Candidate, chooseRunner, hasLabels } from '../../core/runners/placement.ts';

const maxKept = 10_000;

/** The machines of workspaces that are on none for good: each stays where it was while that is connected, and fits. */
export function createChoices() {
  const chosen = new Map<string, string>();

  return {
    /** Throws `E_SANDBOX_UNAVAILABLE`. */
    of({ record, sandbox }: AttachedWorkspace, candidates: readonly Candidate[]): string {
      const { runner, labels = {} } = sandbox?.config ?? {};
      const key = `${record.id}/${sandbox?.id}`;
      const before = candidates.find(({ name }) => name === chosen.get(key));
      if (runner === undefined && before && hasLabels(before.report?.labels, labels)) return before.name;
      const name = chooseRunner(candidates, { runner, labels });
      if (chosen.size >= maxKept) chosen.clear();
      chosen.set(key, name);
      return name;
    },
  };
}
