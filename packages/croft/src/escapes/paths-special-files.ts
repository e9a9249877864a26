import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type AttackCall, attemptCalls, isUnexpectedFailure } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

/** Pipes get input after this many seconds, so that a call that waits for one ends. */
const rescueSeconds = 4;
const promptMs = 3000;

/** Special files, endless trees, and what error messages reveal. */
export const pathsSpecialFiles: readonly Escape[] = [
  {
    id: 'A10',
    title: 'pipes and devices, which a reader waits for without end',
    guards: ['files'],
    attempt: async (fixture) => toVerdict(await attemptWaiting(fixture)),
  },
  {
    id: 'A11',
    title: 'a device or a set-id program in the workspace',
    guards: ['system-calls', 'capabilities'],
    async attempt(fixture) {
      await fixture.run(`cp /bin/true plain; cp /bin/true run; chmod 6755 plain; chmod u+s,g+s run; mkdir dir; chmod g+s dir
        install -m 4755 /bin/true made; mknod zero c 1 5; mknod disk b 8 0; mknod pipe p; umask 0; chmod 2777 dir`);
      const isSpecial = (name: string) => {
        const stats = lstatSync(join(fixture.workspace, name));
        return stats.isBlockDevice() || stats.isCharacterDevice() || (stats.mode & 0o6000) !== 0;
      };
      return toVerdict(
        readdirSync(fixture.workspace)
          .filter(isSpecial)
          .map((name) => `${name} was made`),
      );
    },
  },
  {
    id: 'A20',
    title: 'errors that tell of the host',
    guards: ['files'],
    attempt: async (fixture) => toVerdict(await attemptErrors(fixture)),
  },
  {
    id: 'A23',
    title: 'loops of links and a very deep tree, listed and searched',
    guards: ['files'],
    async attempt(fixture) {
      await fixture.run(`ln -s self self; ln -s two one; ln -s one two; mkdir -p a/b; ln -s ../.. a/b/up; ln -s . here; ln -s .. out
        for i in {1..5}; do mkdir -p $(printf 'd/%.0s' {1..100}) || break; cd $(printf 'd/%.0s' {1..100}); done; echo found > bottom`);
      const paths = ['self', 'one/x', 'here/'.repeat(400), 'a/b/up/'.repeat(300), 'd/'.repeat(500)];
      const calls = paths.flatMap((path): AttackCall[] => [
        ['list', { path }],
        ['read', { file_path: `${path}/x` }],
        ['grep', { pattern: 'found|canary', path }],
        ['glob', { pattern: '**', path }],
      ]);
      const all: AttackCall[] = [...calls, ['glob', { pattern: '**/bottom' }], ['grep', { pattern: 'found' }]];
      const startedAt = performance.now();
      const problems = await attemptCalls(fixture, all, { mayAnswer: true });
      const took = performance.now() - startedAt;
      const removed = await fixture.call('delete', { file_path: 'd', recursive: true });
      return toVerdict(
        problems,
        took > promptMs * 4 && `the answers took ${Math.round(took)} ms`,
        isUnexpectedFailure(removed.text) && 'a deep tree could not be deleted',
      );
    },
  },
];

/** Every call must answer before the pipes get input. */
async function attemptWaiting(fixture: EscapeFixture): Promise<Problem[]> {
  await fixture.run(
    `mkfifo pipe; ln -s pipe way; ln -s /dev/zero zero; ln -s /dev/stdin in; ln -s /dev/tty tty; mkdir d; mkfifo d/pipe`,
  );
  const command = `sleep ${rescueSeconds}; while :; do for at in pipe d/pipe; do timeout 0.2 sh -c "echo late > $at"; done; done`;
  const { structured } = await fixture.call('bash', { command, run_in_background: true });
  const startedAt = performance.now();
  const reads = ['pipe', 'way', 'zero', 'in', 'tty', 'd/pipe'].flatMap((path): AttackCall[] => [
    ['read', { file_path: path }],
    ['grep', { pattern: '.', path }],
    ['write', { file_path: path, content: 'x' }],
    ['edit', { file_path: path, old_string: 'l', new_string: 'x' }],
  ]);
  // A call that waited for one pipe would wait for every other one, so one problem is enough.
  const problems = await attemptCalls(fixture, reads, { enough: 1 });
  const searches: AttackCall[] = [
    ['grep', { pattern: '.' }],
    ['grep', { pattern: '.', path: 'd' }],
    ['glob', { pattern: '**' }],
    ['list', {}],
  ];
  problems.push(...(await attemptCalls(fixture, searches, { mayAnswer: true })));
  const took = performance.now() - startedAt;
  await fixture.call('kill_shell', { shell_id: structured.shell_id });
  return [...problems, took > promptMs && `it took ${Math.round(took)} ms`];
}

/** Errors may name no host path but those of the caller and the workspace, no errno, and no place in our source. */
async function attemptErrors(fixture: EscapeFixture): Promise<Problem[]> {
  await fixture.run(
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
  const inputs = paths.flatMap((path): AttackCall[] => [
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
    const { text, structured, isError } = await fixture.call(tool, input);
    const internals = isError ? findInternals(text + JSON.stringify(structured), fixture) : undefined;
    if (internals) problems.push(`${tool} ${JSON.stringify(input).slice(0, 80)} told ${internals}`);
  }
  return problems;
}

function findInternals(text: string, { workspace, inside }: EscapeFixture): string | undefined {
  const own = text.replaceAll(workspace, '').replaceAll(inside, '');
  const internals =
    /\bE[A-Z]{3,}: |\bsyscall\b|node:|\bat \S+ \(|\.ts:\d|\/proc\/|unexpected failure|\/packages\/|\/home\/|\/root\/|\/tmp\//;
  return internals.exec(own)?.[0];
}
