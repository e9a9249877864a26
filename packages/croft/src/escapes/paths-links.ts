import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import { canaryName, makeBeside, tells, watchOver } from './outside.ts';
import { attemptCalls, fileCalls, searchCalls, type ToolCall } from './paths-calls.ts';
import { verdict } from './verdict.ts';

/** Out of the workspace through links, which a program inside makes as it likes. */
export const pathsLinks: readonly Escape[] = [
  {
    id: 'A4',
    title: 'links that lead out, read and written through by the file tools',
    guards: ['files'],
    async attempt(ground) {
      const file = canaryName(ground);
      await makeLinks(ground);
      const directories = ['absolute', 'relative', 'chain', 'below/up', 'odd', 'absolute/.', 'below/../relative'];
      const files: ToolCall[] = ['file', 'file-chain'].flatMap((path) => fileCalls(path).slice(0, 3));
      const calls = [...directories.flatMap((link) => fileCalls(`${link}/${file}`)), ...files];
      return verdict(await attemptCalls(ground, calls));
    },
  },
  {
    id: 'A4b',
    title: 'links that lead out, searched through',
    guards: ['files', 'mounts'],
    async attempt(ground) {
      await makeLinks(ground);
      const everywhere: ToolCall[] = [
        ['grep', { pattern: 'canary|.' }],
        ['glob', { pattern: '**' }],
        ['glob', { pattern: `**/${canaryName(ground)}` }],
      ];
      const calls = [...['absolute', 'relative', 'chain', 'file'].flatMap(searchCalls), ...everywhere];
      return verdict(await attemptCalls(ground, calls, { mayAnswer: true }));
    },
  },
  {
    id: 'A4c',
    title: 'links that lead out, followed by a command',
    guards: ['mounts'],
    async attempt(ground) {
      await makeLinks(ground);
      const command = `cat */${canaryName(ground)} file*; cp -rL absolute taken; for at in */; do echo evil > $at/new; done; rm -rf relative/*`;
      return verdict(await attemptCalls(ground, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A5',
    title: 'a new file below a linked parent',
    guards: ['files'],
    async attempt(ground) {
      await makeLinks(ground);
      await ground.call('write', { file_path: 'own/a.txt', content: 'own\n' });
      const places = ['absolute', 'relative', 'chain', 'below/up'].flatMap((at) => [`${at}/new`, `${at}/a/b/new`]);
      const calls = places.flatMap((path): ToolCall[] => [
        ['write', { file_path: path, content: 'evil\n' }],
        ['move', { from: 'own/a.txt', to: path }],
        ['move', { from: 'own', to: path }],
      ]);
      return verdict(await attemptCalls(ground, calls));
    },
  },
  {
    id: 'A7',
    title: 'a file written through a link to what is not there yet',
    guards: ['files'],
    async attempt(ground) {
      const up = `../${basename(ground.outside)}`;
      await ground.run(`ln -s ${ground.outside}/new1 d1; ln -s ${up}/new2 d2; ln -s d1 d3; ln -s ${up}/deep/er/new d4`);
      await ground.call('write', { file_path: 'own.txt', content: 'own\n' });
      const calls = ['d1', 'd2', 'd3', 'd4', 'd1/below'].map((path): ToolCall => {
        return ['write', { file_path: path, content: 'evil\n' }];
      });
      return verdict(await attemptCalls(ground, calls));
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
    async attempt(ground) {
      const file = join(ground.outside, canaryName(ground));
      const ways = ['/proc/self/root', '/proc/1/root', '/proc/self/cwd', '/proc/thread-self/root', '/proc/self/fd'];
      await ground.run(
        `${ways.map((way, index) => `ln -s ${way} way${index}`).join('; ')}; ln -s /proc/self/environ env`,
      );
      const magic = ways.flatMap((way, index) => [`way${index}${file}`, `${way}${file}`]);
      const handles = Array.from({ length: 40 }, (_, fd) => [`way4/${fd}/${file}`, `/proc/self/fd/${fd}`]).flat();
      const reads = [...handles, 'env', '/proc/self/environ', '/proc/self/mem', '/dev/fd/0', '/dev/stdin'];
      const calls = reads.map((path): ToolCall => ['read', { file_path: path }]);
      return verdict(await attemptCalls(ground, [...magic.flatMap(fileCalls), ...calls]));
    },
  },
  {
    id: 'A9b',
    title: 'links of /proc, followed by a command',
    guards: ['mounts', 'namespaces'],
    async attempt(ground) {
      const file = join(ground.outside, canaryName(ground));
      const up = `../${basename(ground.outside)}/${canaryName(ground)}`;
      const command = `cat /proc/*/root${file} /proc/*/cwd/${up} /proc/*/fd/*/${up} /proc/*/task/*/root${file}; cat /proc/*/mountinfo >/dev/null`;
      return verdict(await attemptCalls(ground, [['bash', { command }]], { mayAnswer: true }));
    },
  },
  {
    id: 'A21',
    title: 'a directory with links out of it, deleted and moved',
    guards: ['files'],
    async attempt(ground) {
      const changes = watchOver(ground.outside);
      const file = join(ground.outside, canaryName(ground));
      await ground.run(
        `mkdir -p doomed/deep; ln -s ${ground.outside} doomed/deep/out; ln -s ${file} doomed/file; cp -a doomed kept; ln -s ${ground.outside} top`,
      );
      const moved = await ground.call('move', { from: 'kept', to: 'moved' });
      const problems = [tells(moved, ground.canary, 'move')];
      for (const path of ['doomed', 'moved', 'top']) {
        const answer = await ground.call('delete', { file_path: path, recursive: true });
        problems.push(answer.isError && `${path} could not be deleted: ${answer.text}`);
      }
      return verdict(problems, changes());
    },
  },
];

async function makeLinks(ground: Ground): Promise<void> {
  const up = `../${basename(ground.outside)}`;
  const file = join(ground.outside, canaryName(ground));
  await ground.run(`mkdir below; ln -s ${ground.outside} absolute; ln -s ${up} relative; ln -s relative second
    ln -s second chain; ln -s ../${up} below/up; ln -s .//below/.././../${basename(ground.outside)}/ odd
    ln -s ${file} file; ln -s file file-chain; echo own > own.txt`);
}

/** A link that was there before is the file itself to whoever reads it; a write puts another file in its place. */
async function attemptHardLinks(ground: Ground) {
  using beside = makeBeside(ground);
  const target = join(beside.path, 'target.txt');
  writeFileSync(target, 'as it was\n');
  for (const name of ['one.txt', 'two.txt', 'three.txt']) linkSync(target, join(ground.workspace, name));
  const answers = [
    await ground.call('read', { file_path: 'one.txt' }),
    await ground.call('write', { file_path: 'one.txt', content: 'evil\n' }),
    await ground.call('read', { file_path: 'two.txt' }),
    await ground.call('edit', { file_path: 'two.txt', old_string: 'as it was', new_string: 'evil' }),
    await ground.call('delete', { file_path: 'three.txt' }),
  ];
  const refused = answers.filter(({ isError }) => isError).map(({ text }) => `a file with two names: ${text}`);
  const made = await ground.run(`ln ${target} made; ln ${ground.outside}/${canaryName(ground)} made; ls made`);
  return verdict(
    refused,
    readFileSync(target, 'utf8') !== 'as it was\n' && 'the file outside was written through a hard link',
    made.exitCode === 0 && 'a hard link to a file outside was made',
  );
}
