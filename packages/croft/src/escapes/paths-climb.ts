import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import { canaryName, makeBeside } from './outside.ts';
import { attemptCalls, fileCalls, isUnforeseen, searchCalls, type ToolCall } from './paths-calls.ts';
import { type Problem, verdict } from './verdict.ts';

/** Out of the workspace by the text of a path alone. */
export const pathsClimb: readonly Escape[] = [
  {
    id: 'A1',
    title: 'dot-dot and absolute paths in the file tools',
    guards: ['files'],
    async attempt(ground) {
      await ground.call('write', { file_path: 'own.txt', content: 'own\n' });
      const file = `${basename(ground.outside)}/${canaryName(ground)}`;
      const ways = [`../${file}`, `./.././${file}`, `a/../../${file}`, `..//${file}`, `a/b/../../../${file}`];
      const absolute = [`${ground.workspace}/../${file}`, `/..${ground.outside}/${canaryName(ground)}`];
      const paths = [...ways, ...absolute, join(ground.outside, canaryName(ground))];
      return verdict(await attemptCalls(ground, paths.flatMap(fileCalls)));
    },
  },
  {
    id: 'A1b',
    title: 'dot-dot and absolute paths in searches',
    guards: ['files', 'mounts'],
    async attempt(ground) {
      const name = basename(ground.outside);
      const calls = [`../${name}`, `a/../../${name}`, `${ground.workspace}/../${name}`, ground.outside].flatMap(
        searchCalls,
      );
      return verdict(await attemptCalls(ground, calls, { mayAnswer: true }));
    },
  },
  {
    id: 'A1c',
    title: 'dot-dot and absolute paths in a command',
    guards: ['mounts'],
    async attempt(ground) {
      const file = join(ground.outside, canaryName(ground));
      const script = `cat ${file} ../${basename(ground.outside)}/*; ls -R ..; echo evil > ${file}; rm -rf ${ground.outside}`;
      return verdict(await attemptCalls(ground, [['bash', { command: script }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A2',
    title: 'a neighbour whose name begins with that of the workspace',
    guards: ['files'],
    async attempt(ground) {
      using evil = makeBeside(ground, `${ground.workspace}-`);
      writeFileSync(join(evil.path, 'secret.txt'), ground.canary);
      await ground.call('write', { file_path: 'own.txt', content: 'own\n' });
      await ground.run(`ln -s ${evil.path} neighbour`);
      const name = basename(evil.path);
      const paths = [evil.path, `../${name}`, `${ground.workspace}/../${name}`, 'neighbour'];
      const calls = paths.flatMap((path) => fileCalls(`${path}/secret.txt`));
      return verdict(await attemptCalls(ground, calls, { directory: evil.path }));
    },
  },
  {
    id: 'A3',
    title: 'a NUL byte in a path, a pattern or a command',
    guards: ['files'],
    async attempt(ground) {
      await ground.call('write', { file_path: 'own.txt', content: 'own\n' });
      const out = join(ground.outside, canaryName(ground));
      const paths = ['own.txt\0', `own.txt\0/../../${basename(ground.outside)}/x`, `${out}\0.txt`, '\0', 'a\0b/c'];
      const others: ToolCall[] = [
        ['glob', { pattern: '*.txt\0*' }],
        ['grep', { pattern: 'own\0' }],
        ['grep', { pattern: 'own', glob: '*\0' }],
        ['bash', { command: 'echo cut\0; echo short' }],
        ['run_command', { cmd: 'echo\0', args: [] }],
        ['run_command', { cmd: 'echo', args: ['cut\0short'] }],
      ];
      return verdict(await attemptCalls(ground, paths.flatMap(fileCalls)), await unforeseen(ground, others));
    },
  },
  {
    id: 'A12',
    title: 'other spellings of dot-dot, a slash, a home',
    guards: ['files'],
    attempt: async (ground) => verdict(await attemptSpellings(ground)),
  },
  {
    id: 'A13',
    title: 'paths, names and commands beyond every length',
    guards: ['files'],
    async attempt(ground) {
      const deep = 'a/'.repeat(1500);
      const paths = ['n'.repeat(300), 'é'.repeat(200), `${deep}/x`.repeat(3), 'x/'.repeat(2_000_000)];
      const long = 'x'.repeat(3_000_000);
      const others: ToolCall[] = [
        ['glob', { pattern: long }],
        ['grep', { pattern: long }],
        ['bash', { command: `: ${long}` }],
        ['run_command', { cmd: 'true', args: [long] }],
        ['run_command', { cmd: 'true', args: Array.from({ length: 50_000 }, () => 'x'.repeat(60)) }],
      ];
      const problems = [
        ...(await attemptCalls(ground, paths.flatMap(fileCalls))),
        ...(await unforeseen(ground, others)),
      ];
      const { output } = await ground.run('echo still here');
      return verdict(problems, output !== 'still here\n' && 'the sandbox did not go on');
    },
  },
];

/** Each is a name like any other: nothing outside is found by it, and a file of that name is made inside. */
async function attemptSpellings(ground: Ground): Promise<Problem[]> {
  const [name, file] = [basename(ground.outside), canaryName(ground)];
  const dots = ['%2e%2e', '%252e%252e', '．．', '‥', '..\u200b', '.. ', '...', '..;', '\u002e\u002e\u0338'];
  const paths = [
    ...dots.map((way) => `${way}/${name}/${file}`),
    ...['%2f', '%5c', '\\', '∕', '／'].map((slash) => `..${slash}${name}${slash}${file}`),
    ...['~', '$HOME/..', '$PWD/..', '`pwd`/..'].map((home) => `${home}/${name}/${file}`),
    `file://${ground.outside}/${file}`,
    `\\\\?\\${ground.outside}\\${file}`,
  ];
  const problems = await attemptCalls(ground, paths.flatMap(spelledCalls), { mayAnswer: true });
  for (const path of paths) {
    const { text } = await ground.call('read', { file_path: path });
    if (!text.includes('by this very name')) problems.push(`${JSON.stringify(path)} is not taken as it is written`);
  }
  for (const entry of dots) rmSync(join(ground.workspace, entry), { recursive: true, force: true });
  return problems;
}

function spelledCalls(path: string): ToolCall[] {
  return [
    ['read', { file_path: path }],
    ['write', { file_path: path, content: 'by this very name\n' }],
    ['grep', { pattern: 'canary', path }],
  ];
}

/** Calls that may go either way, only not in a way that nobody thought of. */
async function unforeseen(ground: Ground, calls: readonly ToolCall[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [tool, input] of calls) {
    const answer = await ground.call(tool, input);
    if (isUnforeseen(answer.text)) problems.push(`${tool} failed in a way that nobody thought of`);
    if (/\bcut\b(?!.*\bshort\b)/s.test(answer.text) && !answer.isError) problems.push(`${tool} was cut at the NUL`);
  }
  return problems;
}
