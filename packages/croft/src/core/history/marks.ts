import type { KnownCheck } from './history.ts';
import { MarkNote, type Named, readNotes } from './notes.ts';
import type { HistoryStore } from './store.ts';
import type { Root } from './tree.ts';

const testTool = 'run_tests';

export type Marks = ReturnType<typeof createMarks>;

/** What the checks said, by the tree they said it of. */
export function createMarks(store: HistoryStore) {
  async function list(): Promise<Named<MarkNote>[]> {
    return readNotes(MarkNote, await store.notes('mark')).filter(({ name, note }) => name === note.root);
  }

  return {
    list,
    drop: (roots: readonly Root[]) => store.dropNotes('mark', roots),

    async add(root: Root, check: KnownCheck): Promise<void> {
      const [kept] = readNotes(MarkNote, [{ name: root, note: (await store.note('mark', root)) ?? {} }]);
      const others = (kept?.note.checks ?? []).filter(
        ({ tool, project }) => tool !== check.tool || project !== check.project,
      );
      const note: MarkNote = { root, checks: [...others, check], at: check.at };
      await store.keep([], [{ kind: 'mark', name: root, note }]);
    },

    /** Of every tree that something is known of. */
    async byRoot(): Promise<ReadonlyMap<Root, readonly KnownCheck[]>> {
      return new Map((await list()).map(({ name, note }) => [name, note.checks]));
    },

    /** The trees whose tests passed, those of the last run first. */
    async green(): Promise<Root[]> {
      const marks = (await list()).filter(({ note }) => isGreen(note.checks));
      return marks.sort((a, b) => passedAt(b.note).localeCompare(passedAt(a.note))).map(({ name }) => name);
    },
  };
}

/** Tests passed, and none are known to fail. What a linter finds does not count: many live with its findings. */
function isGreen(checks: readonly KnownCheck[]): boolean {
  const tests = checks.filter(({ tool }) => tool === testTool);
  return tests.length > 0 && tests.every(({ verdict }) => verdict === 'passed');
}

function passedAt({ checks }: MarkNote): string {
  const times = checks.filter(({ tool }) => tool === testTool).map(({ at }) => at);
  return times.sort().at(-1) ?? '';
}
