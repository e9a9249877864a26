import type { AttachedWorkspace } from '../../core/accounts/surface/resolve-surface.ts';
import { chooseRunner, hasLabels, type RunnerCandidate } from '../../core/runners/choose-runner.ts';

const maxChoices = 10_000;

/**
 * Remembers the runner of each workspace that has no permanent one. A workspace stays on its runner while the runner is
 * connected and has the right labels.
 */
export function createRunnerChoices() {
  const chosen = new Map<string, string>();

  return {
    /** Throws `E_SANDBOX_UNAVAILABLE`. */
    of({ record, sandbox }: AttachedWorkspace, candidates: readonly RunnerCandidate[]): string {
      const { runner, labels = {} } = sandbox?.config ?? {};
      const key = `${record.id}/${sandbox?.id}`;
      const before = candidates.find(({ name }) => name === chosen.get(key));
      if (runner === undefined && before && hasLabels(before.report?.labels, labels)) return before.name;
      const name = chooseRunner(candidates, { runner, labels });
      if (chosen.size >= maxChoices) chosen.clear();
      chosen.set(key, name);
      return name;
    },
  };
}
