import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CalledTool, Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { watchDirectory } from './watch-outside-workspace.ts';

const lastsMs = 1500;
/** Fewer successful restores mean that there was nothing to restore. */
const enough = 5;
const originalFiles = { 'kept/a.txt': 'as it was\n', 'kept/deep/b.txt': 'as it was\n', 'note.txt': 'as it was\n' };

/** Restores of earlier files while a program puts links in the way. */
export const pathsDuringRestore: readonly Escape[] = [
  {
    id: 'A24',
    title: 'files brought back through a link in place of their directory',
    guards: ['server'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: originalFiles, keepsHistory: true });
      const changes = watchDirectory(own.outside);
      const made = await own.call('snapshot_create', { name: 'before' });
      if (made.isError) throw new Error(made.text);
      await own.run('mv kept aside; ln -s ../outside kept; echo x > kept/a.txt; rm note.txt');
      const { isError } = await own.call('snapshot_restore', { name: 'before' });
      const problems = [!isError && !isRestored(own) && 'the files were not restored', ...changes()];
      return problems.some(Boolean) ? toVerdict(problems) : race(own, changes);
    },
  },
];

function isRestored({ workspace }: EscapeFixture): boolean {
  const isDirectory = lstatSync(join(workspace, 'kept')).isDirectory();
  return (
    isDirectory &&
    Object.entries(originalFiles).every(([path, text]) => readFileSync(join(workspace, path), 'utf8') === text)
  );
}

/** Swaps the directory, with its files removed, for a link that leads outside, and back. */
async function race(own: EscapeFixture, changes: () => Problem[]) {
  await own.run('[ -d aside ] && rm kept && mv -T aside kept; exit 0');
  const command = `while :; do rm -f kept/a.txt kept/deep/b.txt; sleep 0.01
    mv -T kept aside; ln -s ../outside kept; sleep 0.01; rm kept; mv -T aside kept; done 2>/dev/null`;
  const { structured } = await own.call('bash', { command, run_in_background: true });
  const answers: CalledTool[] = [];
  for (const endAt = performance.now() + lastsMs; performance.now() < endAt && !changes().some(Boolean); ) {
    answers.push(await own.call('snapshot_restore', { name: 'before' }), await own.call('undo', {}));
  }
  await own.call('kill_shell', { shell_id: structured.shell_id });
  const found = changes();
  const brought = answers.filter(({ isError }) => !isError).length;
  if (!found.some(Boolean) && brought < enough)
    return { skipped: `there was something to bring back ${brought} times` };
  const strange = answers.filter(({ text }) => text.includes('unexpected failure'));
  return toVerdict(found, strange.length > 0 && 'it failed in an unexpected way');
}
