import type { Escape, Ground } from './escape.ts';
import { repository, steering } from './git-attempts.ts';
import { isUnforeseen, type ToolCall } from './paths-calls.ts';
import { attackFiles, watchFiles } from './steadfast.ts';
import { type Problem, verdict } from './verdict.ts';

const settings = { '.vscode/tasks.json': '{}\n', '.bashrc': '# own\n', '.mcp.json': '{}\n' };
const files = [...steering('.git/'), '.vscode', ...Object.keys(settings)];
const tree = { ...repository('.git/'), ...settings, 'own/a.txt': 'evil\n' };
const deepTree = Object.fromEntries(Object.entries(tree).map(([path, text]) => [`deep/er/${path}`, text]));

/** Control files whose names are written so, or from such a place, that a rule for the name might not fit. */
export const pathsNames: readonly Escape[] = [
  {
    id: 'A14',
    title: 'a control file by a name with slashes, dots and detours',
    guards: ['files'],
    async attempt(ground) {
      const own = await ground.open({ tree });
      const changes = watchFiles(own.workspace, files);
      const problems = await callAll(own, files.flatMap(spellings(own)));
      await own.run(
        files.map((name) => `echo evil > ${name}/; mv ${name}/ gone; rm -rf ${name}/ ./${name}//`).join('\n'),
      );
      return verdict(problems, changes());
    },
  },
  {
    id: 'A15',
    title: 'a control file from another directory than the root',
    guards: ['files'],
    async attempt(ground) {
      const own = await ground.open({ tree: { ...tree, ...deepTree } });
      const all = ['', 'deep/er/'].flatMap((place) => files.map((name) => `${place}${name}`));
      const changes = watchFiles(own.workspace, all);
      await own.call('cd', { path: 'deep/er' });
      const problems = await callAll(own, [...files, ...files.map((name) => `../../${name}`)]);
      await attackFiles(own, files);
      return verdict(problems, changes());
    },
  },
];

const spellings =
  ({ inside }: Ground) =>
  (name: string) => [
    ...[`${name}/`, `${name}//`, `./${name}`, `${name}/.`, `.//${name}/./`, `own/../${name}`, `${inside}/${name}/`],
  ];

async function callAll(ground: Ground, paths: readonly string[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [tool, input] of paths.flatMap(changingCalls)) {
    const { text } = await ground.call(tool, input);
    if (isUnforeseen(text)) problems.push(`${tool} ${JSON.stringify(input)} failed in a way that nobody thought of`);
  }
  return problems;
}

function changingCalls(file_path: string): ToolCall[] {
  return [
    ['read', { file_path }],
    ['write', { file_path, content: 'evil\n' }],
    ['edit', { file_path, old_string: '#', new_string: '# evil' }],
    ['move', { from: file_path, to: 'gone' }],
    ['move', { from: 'own', to: file_path }],
    ['delete', { file_path, recursive: true }],
  ];
}
