import type { CheckVerdict } from '../ports/history.ts';
import type { HistoryStore } from '../ports/history-store.ts';
import type { TreeHash } from '../ports/tree.ts';
import { type Named, readNotes, VerdictNote } from './notes.ts';

const testTool = 'run_tests';

export type VerdictLog = ReturnType<typeof createVerdictLog>;

/** Verdicts of checks, stored by the hash of the tree that they are about. */
export function createVerdictLog(store: HistoryStore) {
  async function list(): Promise<Named<VerdictNote>[]> {
    return readNotes(VerdictNote, await store.notes('mark')).filter(({ name, note }) => name === note.root);
  }

  return {
    list,
    drop: (trees: readonly TreeHash[]) => store.dropNotes('mark', trees),

    async add(root: TreeHash, check: CheckVerdict): Promise<void> {
      const [stored] = readNotes(VerdictNote, [{ name: root, note: (await store.note('mark', root)) ?? {} }]);
      const others = (stored?.note.checks ?? []).filter(
        ({ tool, project }) => tool !== check.tool || project !== check.project,
      );
      const note: VerdictNote = { root, checks: [...others, check], at: check.at };
      await store.put([], [{ kind: 'mark', name: root, note }]);
    },

    /** Returns the verdicts on every tree that has some. */
    async byTree(): Promise<ReadonlyMap<TreeHash, readonly CheckVerdict[]>> {
      return new Map((await list()).map(({ name, note }) => [name, note.checks]));
    },

    /** Returns the trees whose tests passed, the last run first. */
    async green(): Promise<TreeHash[]> {
      const greenTrees = (await list()).filter(({ note }) => isGreen(note.checks));
      return greenTrees.sort((a, b) => passedAt(b.note).localeCompare(passedAt(a.note))).map(({ name }) => name);
    },
  };
}

/** Whether tests passed and none are known to fail. Linters do not count: many projects live with their findings. */
function isGreen(checks: readonly CheckVerdict[]): boolean {
  const tests = checks.filter(({ tool }) => tool === testTool);
  return tests.length > 0 && tests.every(({ verdict }) => verdict === 'passed');
}

function passedAt({ checks }: VerdictNote): string {
  const times = checks.filter(({ tool }) => tool === testTool).map(({ at }) => at);
  return times.sort().at(-1) ?? '';
}
