import type { KnownCheck } from './history.ts';
import type { Marks } from './marks.ts';
import type { Timeline } from './timeline.ts';
import type { Root } from './tree.ts';
import type { WorkingTree } from './working-tree.ts';

export interface LearningOptions {
  readonly tree: WorkingTree;
  readonly timeline: Pick<Timeline, 'look'>;
  readonly marks: Marks;
  onWarning(message: string): void;
}

/** What checks say of the trees they are run on. What goes wrong with it is no failure of a check. */
export function createLearning({ tree, timeline, marks, onWarning }: LearningOptions) {
  const warn = (thrown: unknown): undefined => {
    onWarning(`what a check said cannot be noted: ${thrown}`);
  };

  async function note(check: KnownCheck, of: Root): Promise<void> {
    const root = await timeline.look();
    // What the check itself left behind does not matter; what it looked at has to be what it was.
    const changes = root === of ? [] : await tree.diff(of, root);
    if (changes.some(({ before }) => before !== undefined)) return;
    for (const each of new Set([of, root])) await marks.add(each, check);
  }

  return {
    look: (): Promise<Root | undefined> => timeline.look().catch(warn),
    learned: async (check: KnownCheck, of: Root | undefined): Promise<void> => {
      if (of !== undefined) await note(check, of).catch(warn);
    },
  };
}
