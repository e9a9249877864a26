import { type AttackCall, isUnexpectedFailure } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { gitControlPaths, repositoryTree } from './git-attempts.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { watchFiles } from './watch-files.ts';

const settings = { '.vscode/tasks.json': '{}\n', '.bashrc': '# own\n', '.mcp.json': '{}\n' };
const files = [...gitControlPaths('.git/'), '.vscode', ...Object.keys(settings)];
const tree = { ...repositoryTree('.git/'), ...settings, 'own/a.txt': 'evil\n' };
const deepTree = Object.fromEntries(Object.entries(tree).map(([path, text]) => [`deep/er/${path}`, text]));

/** Control files under spellings, or from directories, that a rule for names might miss. */
export const pathsRespelled: readonly Escape[] = [
  {
    id: 'A14',
    title: 'a control file by a name with slashes, dots and detours',
    guards: ['files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree });
      const changes = watchFiles(own.workspace, files);
      const problems = await callAll(own, files.flatMap(spellings(own)));
      await own.run(
        files.map((name) => `echo evil > ${name}/; mv ${name}/ gone; rm -rf ${name}/ ./${name}//`).join('\n'),
      );
      return toVerdict(problems, changes());
    },
  },
  {
    id: 'A15',
    title: 'a control file from another directory than the root',
    guards: ['files'],
    async attempt(fixture) {
      const own = await fixture.open({ tree: { ...tree, ...deepTree } });
      const all = ['', 'deep/er/'].flatMap((directory) => files.map((name) => `${directory}${name}`));
      const changes = watchFiles(own.workspace, all);
      await own.call('cd', { path: 'deep/er' });
      const problems = await callAll(own, [...files, ...files.map((name) => `../../${name}`)]);
      return toVerdict(problems, changes());
    },
  },
];

const spellings =
  ({ inside }: EscapeFixture) =>
  (name: string) => [
    ...[`${name}/`, `${name}//`, `./${name}`, `${name}/.`, `.//${name}/./`, `own/../${name}`, `${inside}/${name}/`],
  ];

async function callAll(fixture: EscapeFixture, paths: readonly string[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [tool, input] of paths.flatMap(changingCalls)) {
    const { text } = await fixture.call(tool, input);
    if (isUnexpectedFailure(text)) problems.push(`${tool} ${JSON.stringify(input)} failed in an unexpected way`);
  }
  return problems;
}

function changingCalls(file_path: string): AttackCall[] {
  return [
    ['read', { file_path }],
    ['write', { file_path, content: 'evil\n' }],
    ['edit', { file_path, old_string: '#', new_string: '# evil' }],
    ['move', { from: file_path, to: 'gone' }],
    ['move', { from: 'own', to: file_path }],
    ['delete', { file_path, recursive: true }],
  ];
}
