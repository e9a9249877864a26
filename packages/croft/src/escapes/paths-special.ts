import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, Ground } from './escape.ts';
import { attemptCalls, isUnforeseen, type ToolCall } from './paths-calls.ts';
import { type Problem, verdict } from './verdict.ts';

/** A pipe that nobody writes to is written to after so long, so that whoever waits for it goes on. */
const rescueSeconds = 4;
const promptMs = 3000;

/** Files that are no files, trees that have no end, and what errors say. */
export const pathsSpecial: readonly Escape[] = [
  {
    id: 'A10',
    title: 'pipes and devices, which a reader waits for without end',
    guards: ['files'],
    attempt: async (ground) => verdict(await attemptWaiting(ground)),
  },
  {
    id: 'A11',
    title: 'a device or a set-id program in the workspace',
    guards: ['system-calls', 'capabilities'],
    async attempt(ground) {
      await ground.run(`cp /bin/true plain; cp /bin/true run; chmod 6755 plain; chmod u+s,g+s run; mkdir dir; chmod g+s dir
        install -m 4755 /bin/true made; mknod zero c 1 5; mknod disk b 8 0; mknod pipe p; umask 0; chmod 2777 dir`);
      const isSpecial = (name: string) => {
        const stats = lstatSync(join(ground.workspace, name));
        return stats.isBlockDevice() || stats.isCharacterDevice() || (stats.mode & 0o6000) !== 0;
      };
      return verdict(
        readdirSync(ground.workspace)
          .filter(isSpecial)
          .map((name) => `${name} was made`),
      );
    },
  },
  {
    id: 'A20',
    title: 'errors that tell of the host',
    guards: ['files'],
    attempt: async (ground) => verdict(await attemptErrors(ground)),
  },
  {
    id: 'A23',
    title: 'loops of links and a very deep tree, listed and searched',
    guards: ['files'],
    async attempt(ground) {
      await ground.run(`ln -s self self; ln -s two one; ln -s one two; mkdir -p a/b; ln -s ../.. a/b/up; ln -s . here; ln -s .. out
        for i in {1..5}; do mkdir -p $(printf 'd/%.0s' {1..100}) || break; cd $(printf 'd/%.0s' {1..100}); done; echo found > bottom`);
      const paths = ['self', 'one/x', 'here/'.repeat(400), 'a/b/up/'.repeat(300), 'd/'.repeat(500)];
      const calls = paths.flatMap((path): ToolCall[] => [
        ['list', { path }],
        ['read', { file_path: `${path}/x` }],
        ['grep', { pattern: 'found|canary', path }],
        ['glob', { pattern: '**', path }],
      ]);
      const all: ToolCall[] = [...calls, ['glob', { pattern: '**/bottom' }], ['grep', { pattern: 'found' }]];
      const startedAt = performance.now();
      const problems = await attemptCalls(ground, all, { mayAnswer: true });
      const took = performance.now() - startedAt;
      const removed = await ground.call('delete', { file_path: 'd', recursive: true });
      return verdict(
        problems,
        took > promptMs * 4 && `the answers took ${Math.round(took)} ms`,
        isUnforeseen(removed.text) && 'a deep tree could not be deleted',
      );
    },
  },
];

/** Each call is to answer before the pipes are written to. */
async function attemptWaiting(ground: Ground): Promise<Problem[]> {
  await ground.run(
    `mkfifo pipe; ln -s pipe way; ln -s /dev/zero zero; ln -s /dev/stdin in; ln -s /dev/tty tty; mkdir d; mkfifo d/pipe`,
  );
  const command = `sleep ${rescueSeconds}; while :; do for at in pipe d/pipe; do timeout 0.2 sh -c "echo late > $at"; done; done`;
  const { structured } = await ground.call('bash', { command, run_in_background: true });
  const startedAt = performance.now();
  const reads = ['pipe', 'way', 'zero', 'in', 'tty', 'd/pipe'].flatMap((path): ToolCall[] => [
    ['read', { file_path: path }],
    ['grep', { pattern: '.', path }],
    ['write', { file_path: path, content: 'x' }],
    ['edit', { file_path: path, old_string: 'l', new_string: 'x' }],
  ]);
  // Whoever has waited for one pipe would wait for every other.
  const problems = await attemptCalls(ground, reads, { enough: 1 });
  const searches: ToolCall[] = [
    ['grep', { pattern: '.' }],
    ['grep', { pattern: '.', path: 'd' }],
    ['glob', { pattern: '**' }],
    ['list', {}],
  ];
  problems.push(...(await attemptCalls(ground, searches, { mayAnswer: true })));
  const took = performance.now() - startedAt;
  await ground.call('kill_shell', { shell_id: structured.shell_id });
  return [...problems, took > promptMs && `it took ${Math.round(took)} ms`];
}

/** No path but what the caller wrote or the workspace's own, no number of an error, no place in our code. */
async function attemptErrors(ground: Ground): Promise<Problem[]> {
  await ground.run(
    `mkdir dir; echo x > file; ln -s gone dangling; ln -s loop loop; mkdir shut; echo x > shut/file; chmod 0 shut`,
  );
  const paths = [
    'gone',
    'file/below',
    'dir',
    'dangling',
    'loop',
    'shut/file',
    '../x',
    '/etc/shadow',
    'n'.repeat(256),
    'x\0',
  ];
  const inputs = paths.flatMap((path): ToolCall[] => [
    ['read', { file_path: path }],
    ['write', { file_path: path, content: 'x' }],
    ['edit', { file_path: path, old_string: 'gone', new_string: 'x' }],
    ['delete', { file_path: path }],
    ['move', { from: path, to: 'file' }],
    ['list', { path }],
    ['glob', { pattern: '[', path }],
    ['grep', { pattern: '(', path }],
    ['run_command', { cmd: path }],
    ['bash_output', { shell_id: path }],
  ]);
  const problems: Problem[] = [];
  for (const [tool, input] of inputs) {
    const { text, structured, isError } = await ground.call(tool, input);
    const told = isError ? findInternals(text + JSON.stringify(structured), ground) : undefined;
    if (told) problems.push(`${tool} ${JSON.stringify(input).slice(0, 80)} told ${told}`);
  }
  return problems;
}

function findInternals(text: string, { workspace, inside }: Ground): string | undefined {
  const own = text.replaceAll(workspace, '').replaceAll(inside, '');
  const internals =
    /\bE[A-Z]{3,}: |\bsyscall\b|node:|\bat \S+ \(|\.ts:\d|\/proc\/|unexpected failure|\/packages\/|\/home\/|\/root\/|\/tmp\//;
  return internals.exec(own)?.[0];
}
