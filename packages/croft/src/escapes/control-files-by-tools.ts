import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, EscapeFixture } from './escape.ts';
import { toVerdict } from './to-verdict.ts';

const settings = '[core]\n\tfsmonitor = echo evil\n';
const head = 'ref: refs/heads/main\n';

/** Control files that did not exist, created by the file tools. */
export const controlFilesByTools: readonly Escape[] = [
  {
    id: 'C53',
    title: 'a control file that was not there, made by the file tools',
    guards: ['files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: { 'own.txt': 'evil\n', 'repo/.git/HEAD': head } });
      const names = [
        '.claude/settings.json',
        '.vscode/tasks.json',
        '.mcp.json',
        '.devcontainer.json',
        'a.code-workspace',
      ];
      const paths = [...names, ...names.map((name) => `repo/${name}`)];
      for (const file_path of paths) {
        await own.call('write', { file_path, content: 'evil\n' });
        await own.call('move', { from: 'own.txt', to: file_path });
      }
      return toVerdict(paths.map((path) => existsSync(join(own.workspace, path)) && `${path} was made`));
    },
  },
  {
    id: 'C54',
    title: 'a git directory made of single writes, in every order',
    guards: ['files'],
    async attempt(fixture) {
      const own = await fixture.open({});
      const pieces = Object.entries({ config: settings, 'objects/x': '', 'refs/heads/x': '', HEAD: head });
      await writeAll(own, 'one', pieces);
      await writeAll(own, 'two', pieces.toReversed());
      await writeAll(own, 'three/.git', pieces);
      await Promise.all(pieces.map(([name, content]) => own.call('write', { file_path: `four/${name}`, content })));
      const made = ['one', 'two', 'three/.git', 'four'].filter((at) => isGit(own, at));
      return toVerdict(made.map((at) => `${at} is a git directory`));
    },
  },
];

async function writeAll(
  fixture: EscapeFixture,
  at: string,
  pieces: readonly (readonly [string, string])[],
): Promise<void> {
  for (const [name, content] of pieces) await fixture.call('write', { file_path: `${at}/${name}`, content });
}

function isGit({ workspace }: EscapeFixture, at: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(workspace, at, name)));
}
