import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type AttackCall, attemptCalls, fileCalls, searchCalls } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { toVerdict } from './to-verdict.ts';
import { canaryName, makeDirectoryBeside, revealsSecret, watchDirectory } from './watch-outside-workspace.ts';

/** Attempts to leave the workspace through links, which programs inside can create freely. */
export const pathsLinks: readonly Escape[] = [
  {
    id: 'A4',
    title: 'links that lead out, read and written through by the file tools',
    guards: ['files'],
    async attempt(fixture) {
      const file = canaryName(fixture);
      await makeLinks(fixture);
      const directories = ['absolute', 'relative', 'chain', 'below/up', 'odd', 'absolute/.', 'below/../relative'];
      const files: AttackCall[] = ['file', 'file-chain'].flatMap((path) => fileCalls(path).slice(0, 3));
      const calls = [...directories.flatMap((link) => fileCalls(`${link}/${file}`)), ...files];
      return toVerdict(await attemptCalls(fixture, calls));
    },
  },
  {
    id: 'A4b',
    title: 'links that lead out, searched through',
    guards: ['files', 'mounts'],
    async attempt(fixture) {
      await makeLinks(fixture);
      const everywhere: AttackCall[] = [
        ['grep', { pattern: 'canary|.' }],
        ['glob', { pattern: '**' }],
        ['glob', { pattern: `**/${canaryName(fixture)}` }],
      ];
      const calls = [...['absolute', 'relative', 'chain', 'file'].flatMap(searchCalls), ...everywhere];
      return toVerdict(await attemptCalls(fixture, calls, { mayAnswer: true }));
    },
  },
  {
    id: 'A4c',
    title: 'links that lead out, followed by a command',
    guards: ['mounts'],
    async attempt(fixture) {
      await makeLinks(fixture);
      const command = `cat */${canaryName(fixture)} file*; cp -rL absolute taken; for at in */; do echo evil > $at/new; done; rm -rf relative/*`;
      return toVerdict(await attemptCalls(fixture, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A5',
    title: 'a new file below a linked parent',
    guards: ['files'],
    async attempt(fixture) {
      await makeLinks(fixture);
      await fixture.call('write', { file_path: 'own/a.txt', content: 'own\n' });
      const paths = ['absolute', 'relative', 'chain', 'below/up'].flatMap((at) => [`${at}/new`, `${at}/a/b/new`]);
      const calls = paths.flatMap((path): AttackCall[] => [
        ['write', { file_path: path, content: 'evil\n' }],
        ['move', { from: 'own/a.txt', to: path }],
        ['move', { from: 'own', to: path }],
      ]);
      return toVerdict(await attemptCalls(fixture, calls));
    },
  },
  {
    id: 'A7',
    title: 'a file written through a link to what is not there yet',
    guards: ['files'],
    async attempt(fixture) {
      const up = `../${basename(fixture.outside)}`;
      await fixture.run(
        `ln -s ${fixture.outside}/new1 d1; ln -s ${up}/new2 d2; ln -s d1 d3; ln -s ${up}/deep/er/new d4`,
      );
      await fixture.call('write', { file_path: 'own.txt', content: 'own\n' });
      const calls = ['d1', 'd2', 'd3', 'd4', 'd1/below'].map((path): AttackCall => {
        return ['write', { file_path: path, content: 'evil\n' }];
      });
      return toVerdict(await attemptCalls(fixture, calls));
    },
  },
  {
    id: 'A8',
    title: 'a hard link to a file outside, written by the file tools',
    guards: ['files'],
    attempt: attemptHardLinks,
  },
  {
    id: 'A9',
    title: 'links of /proc, which lead where no path does',
    guards: ['files'],
    async attempt(fixture) {
      const file = join(fixture.outside, canaryName(fixture));
      const ways = ['/proc/self/root', '/proc/1/root', '/proc/self/cwd', '/proc/thread-self/root', '/proc/self/fd'];
      await fixture.run(
        `${ways.map((way, index) => `ln -s ${way} way${index}`).join('; ')}; ln -s /proc/self/environ env`,
      );
      const magic = ways.flatMap((way, index) => [`way${index}${file}`, `${way}${file}`]);
      const handles = Array.from({ length: 40 }, (_, fd) => [`way4/${fd}/${file}`, `/proc/self/fd/${fd}`]).flat();
      const reads = [...handles, 'env', '/proc/self/environ', '/proc/self/mem', '/dev/fd/0', '/dev/stdin'];
      const calls = reads.map((path): AttackCall => ['read', { file_path: path }]);
      return toVerdict(await attemptCalls(fixture, [...magic.flatMap(fileCalls), ...calls]));
    },
  },
  {
    id: 'A9b',
    title: 'links of /proc, followed by a command',
    guards: ['mounts', 'namespaces'],
    async attempt(fixture) {
      const file = join(fixture.outside, canaryName(fixture));
      const up = `../${basename(fixture.outside)}/${canaryName(fixture)}`;
      const command = `cat /proc/*/root${file} /proc/*/cwd/${up} /proc/*/fd/*/${up} /proc/*/task/*/root${file}; cat /proc/*/mountinfo >/dev/null`;
      return toVerdict(await attemptCalls(fixture, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A21',
    title: 'a directory with links out of it, deleted and moved',
    guards: ['files'],
    async attempt(fixture) {
      const changes = watchDirectory(fixture.outside);
      const file = join(fixture.outside, canaryName(fixture));
      await fixture.run(
        `mkdir -p doomed/deep; ln -s ${fixture.outside} doomed/deep/out; ln -s ${file} doomed/file; cp -a doomed kept; ln -s ${fixture.outside} top`,
      );
      const moved = await fixture.call('move', { from: 'kept', to: 'moved' });
      const problems = [revealsSecret(moved, fixture.canary, 'move')];
      for (const path of ['doomed', 'moved', 'top']) {
        const answer = await fixture.call('delete', { file_path: path, recursive: true });
        problems.push(answer.isError && `${path} could not be deleted: ${answer.text}`);
      }
      return toVerdict(problems, changes());
    },
  },
];

async function makeLinks(fixture: EscapeFixture): Promise<void> {
  const up = `../${basename(fixture.outside)}`;
  const file = join(fixture.outside, canaryName(fixture));
  await fixture.run(`mkdir below; ln -s ${fixture.outside} absolute; ln -s ${up} relative; ln -s relative second
    ln -s second chain; ln -s ../${up} below/up; ln -s .//below/.././../${basename(fixture.outside)}/ odd
    ln -s ${file} file; ln -s file file-chain; echo own > own.txt`);
}

/** Reading an existing hard link reads the file itself. A write must replace the link by a new file. */
async function attemptHardLinks(fixture: EscapeFixture) {
  using beside = makeDirectoryBeside(fixture);
  const target = join(beside.path, 'target.txt');
  writeFileSync(target, 'as it was\n');
  for (const name of ['one.txt', 'two.txt', 'three.txt']) linkSync(target, join(fixture.workspace, name));
  const answers = [
    await fixture.call('read', { file_path: 'one.txt' }),
    await fixture.call('write', { file_path: 'one.txt', content: 'evil\n' }),
    await fixture.call('read', { file_path: 'two.txt' }),
    await fixture.call('edit', { file_path: 'two.txt', old_string: 'as it was', new_string: 'evil' }),
    await fixture.call('delete', { file_path: 'three.txt' }),
  ];
  const refused = answers.filter(({ isError }) => isError).map(({ text }) => `a file with two names: ${text}`);
  const made = await fixture.run(`ln ${target} made; ln ${fixture.outside}/${canaryName(fixture)} made; ls made`);
  return toVerdict(
    refused,
    readFileSync(target, 'utf8') !== 'as it was\n' && 'the file outside was written through a hard link',
    made.exitCode === 0 && 'a hard link to a file outside was made',
  );
}
