import { rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type AttackCall, attemptCalls, fileCalls, isUnexpectedFailure, searchCalls } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';
import { canaryName, makeDirectoryBeside } from './watch-outside-workspace.ts';

/** Attempts to leave the workspace by the text of a path alone. */
export const pathsByText: readonly Escape[] = [
  {
    id: 'A1',
    title: 'dot-dot and absolute paths in the file tools',
    guards: ['files'],
    async attempt(fixture) {
      await fixture.call('write', { file_path: 'own.txt', content: 'own\n' });
      const file = `${basename(fixture.outside)}/${canaryName(fixture)}`;
      const ways = [`../${file}`, `./.././${file}`, `a/../../${file}`, `..//${file}`, `a/b/../../../${file}`];
      const absolute = [`${fixture.workspace}/../${file}`, `/..${fixture.outside}/${canaryName(fixture)}`];
      const paths = [...ways, ...absolute, join(fixture.outside, canaryName(fixture))];
      return toVerdict(await attemptCalls(fixture, paths.flatMap(fileCalls)));
    },
  },
  {
    id: 'A1b',
    title: 'dot-dot and absolute paths in searches',
    guards: ['files', 'mounts'],
    async attempt(fixture) {
      const name = basename(fixture.outside);
      const calls = [`../${name}`, `a/../../${name}`, `${fixture.workspace}/../${name}`, fixture.outside].flatMap(
        searchCalls,
      );
      return toVerdict(await attemptCalls(fixture, calls, { mayAnswer: true }));
    },
  },
  {
    id: 'A1c',
    title: 'dot-dot and absolute paths in a command',
    guards: ['mounts'],
    async attempt(fixture) {
      const file = join(fixture.outside, canaryName(fixture));
      const script = `cat ${file} ../${basename(fixture.outside)}/*; ls -R ..; echo evil > ${file}; rm -rf ${fixture.outside}`;
      return toVerdict(await attemptCalls(fixture, [['bash', { command: script }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A2',
    title: 'a neighbour whose name begins with that of the workspace',
    guards: ['files'],
    async attempt(fixture) {
      using evil = makeDirectoryBeside(fixture, `${fixture.workspace}-`);
      writeFileSync(join(evil.path, 'secret.txt'), fixture.canary);
      await fixture.call('write', { file_path: 'own.txt', content: 'own\n' });
      await fixture.run(`ln -s ${evil.path} neighbour`);
      const name = basename(evil.path);
      const paths = [evil.path, `../${name}`, `${fixture.workspace}/../${name}`, 'neighbour'];
      const calls = paths.flatMap((path) => fileCalls(`${path}/secret.txt`));
      return toVerdict(await attemptCalls(fixture, calls, { directory: evil.path }));
    },
  },
  {
    id: 'A3',
    title: 'a NUL byte in a path, a pattern or a command',
    guards: ['files'],
    async attempt(fixture) {
      await fixture.call('write', { file_path: 'own.txt', content: 'own\n' });
      const out = join(fixture.outside, canaryName(fixture));
      const paths = ['own.txt\0', `own.txt\0/../../${basename(fixture.outside)}/x`, `${out}\0.txt`, '\0', 'a\0b/c'];
      const others: AttackCall[] = [
        ['glob', { pattern: '*.txt\0*' }],
        ['grep', { pattern: 'own\0' }],
        ['grep', { pattern: 'own', glob: '*\0' }],
        ['bash', { command: 'echo cut\0; echo short' }],
        ['run_command', { cmd: 'echo\0', args: [] }],
        ['run_command', { cmd: 'echo', args: ['cut\0short'] }],
      ];
      return toVerdict(
        await attemptCalls(fixture, paths.flatMap(fileCalls)),
        await findUnexpectedFailures(fixture, others),
      );
    },
  },
  {
    id: 'A12',
    title: 'other spellings of dot-dot, a slash, a home',
    guards: ['files'],
    attempt: async (fixture) => toVerdict(await attemptSpellings(fixture)),
  },
  {
    id: 'A13',
    title: 'paths, names and commands beyond every length',
    guards: ['files'],
    async attempt(fixture) {
      const deep = 'a/'.repeat(1500);
      const paths = ['n'.repeat(300), 'é'.repeat(200), `${deep}/x`.repeat(3), 'x/'.repeat(2_000_000)];
      const long = 'x'.repeat(3_000_000);
      const others: AttackCall[] = [
        ['glob', { pattern: long }],
        ['grep', { pattern: long }],
        ['bash', { command: `: ${long}` }],
        ['run_command', { cmd: 'true', args: [long] }],
        ['run_command', { cmd: 'true', args: Array.from({ length: 50_000 }, () => 'x'.repeat(60)) }],
      ];
      const problems = [
        ...(await attemptCalls(fixture, paths.flatMap(fileCalls))),
        ...(await findUnexpectedFailures(fixture, others)),
      ];
      const { output } = await fixture.run('echo still here');
      return toVerdict(problems, output !== 'still here\n' && 'the sandbox did not go on');
    },
  },
];

/** Each spelling must be an ordinary name: it reaches nothing outside, and a file of that name is created inside. */
async function attemptSpellings(fixture: EscapeFixture): Promise<Problem[]> {
  const [name, file] = [basename(fixture.outside), canaryName(fixture)];
  const dots = ['%2e%2e', '%252e%252e', '．．', '‥', '..\u200b', '.. ', '...', '..;', '\u002e\u002e\u0338'];
  const paths = [
    ...dots.map((way) => `${way}/${name}/${file}`),
    ...['%2f', '%5c', '\\', '∕', '／'].map((slash) => `..${slash}${name}${slash}${file}`),
    ...['~', '$HOME/..', '$PWD/..', '`pwd`/..'].map((home) => `${home}/${name}/${file}`),
    `file://${fixture.outside}/${file}`,
    `\\\\?\\${fixture.outside}\\${file}`,
  ];
  const problems = await attemptCalls(fixture, paths.flatMap(spelledCalls), { mayAnswer: true });
  for (const path of paths) {
    const { text } = await fixture.call('read', { file_path: path });
    if (!text.includes('by this very name')) problems.push(`${JSON.stringify(path)} is not taken as it is written`);
  }
  for (const entry of dots) rmSync(join(fixture.workspace, entry), { recursive: true, force: true });
  return problems;
}

function spelledCalls(path: string): AttackCall[] {
  return [
    ['read', { file_path: path }],
    ['write', { file_path: path, content: 'by this very name\n' }],
    ['grep', { pattern: 'canary', path }],
  ];
}

/** Makes calls that may succeed or fail, but not with an unexpected failure. */
async function findUnexpectedFailures(fixture: EscapeFixture, calls: readonly AttackCall[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [tool, input] of calls) {
    const answer = await fixture.call(tool, input);
    if (isUnexpectedFailure(answer.text)) problems.push(`${tool} failed in an unexpected way`);
    if (/\bcut\b(?!.*\bshort\b)/s.test(answer.text) && !answer.isError) problems.push(`${tool} was cut at the NUL`);
  }
  return problems;
}
