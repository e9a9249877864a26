import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runIn } from '../contracts/sandbox-run.ts';
import { makeDirectory } from '../support/harness.ts';
import { openSandbox, operator } from '../support/sandboxes/open-sandbox.ts';
import { compileText, createInitMaker, type InitEdit, type InitMaker } from '../support/sandboxes/weaken-init.ts';
import { weaken } from '../support/sandboxes/weaken-provider.ts';

/**
 * The moment after a person replaced a control file: the kernel has removed the mount over it, and the init did not
 * mount it again yet. Here the init never does, so that the moment lasts, and nothing depends on who is faster.
 */

const neverAgain: readonly InitEdit[] = [
  [
    'init/guard/hold-repositories.c',
    /int repositories_check\(int is_anybody_inside\) \{/,
    '$& if (is_anybody_inside < 2) return 0;',
  ],
  ['init/guard/hold-control-files.c', /int check_guarded_files\(void\) \{/, '$& if (own_git != 1) return 0;'],
];
/** Gives a program time to change its own memory before it makes the call itself. */
const late: InitEdit = [
  'init/guard/call-judge.c',
  /else if \(error == GO_ON\) answer/,
  'else if (error == GO_ON) usleep(300000), answer',
];

let inits: ReturnType<typeof makeDirectory>;
let makeInit: InitMaker;
beforeAll(() => {
  inits = makeDirectory();
  chmodSync(inits.path, 0o755);
  makeInit = createInitMaker(inits.path);
});
afterAll(() => inits[Symbol.dispose]());

const settings = '[core]\n\trepositoryformatversion = 0\n\tbare = false\n[user]\n\tname = Ada\n';

/** A repository in which a sandbox is open, whose settings, hooks and files at the top the person has replaced. */
async function openUnheld() {
  const fixture = makeDirectory({
    'evil.txt': '[core]\n\tfsmonitor = evil\n',
    '.mcp.json': '{}',
    '.vscode/tasks.json': '{}',
  });
  chmodSync(fixture.path, 0o777);
  execFileSync('git', ['init', '-q'], { cwd: fixture.path });
  const provider = weaken([], { makeInit, edits: [...neverAgain, late] })({ ...operator, variables: {} } as never);
  const sandbox = await openSandbox(fixture.path, { provider });
  const run = (command: string) => runIn(sandbox, ['/bin/bash', '-c', `cd /workspace; ${command}`]);
  await run('true');
  const replaced = { '.git/config': settings, '.mcp.json': '{"mine": 1}', '.vscode/tasks.json': '{"mine": 1}' };
  writeFileSync(fixture.at('.git/config.lock'), settings);
  renameSync(fixture.at('.git/config.lock'), fixture.at('.git/config'));
  execFileSync(
    'sh',
    ['-c', 'mv .git/hooks .git/old; mkdir .git/hooks; mv .vscode old; cp -r old .vscode; cp old/tasks.json x'],
    { cwd: fixture.path },
  );
  for (const name of ['.mcp.json', '.vscode/tasks.json'] as const) {
    writeFileSync(fixture.at('next'), replaced[name]);
    renameSync(fixture.at('next'), fixture.at(name));
  }
  return { fixture, run, replaced };
}

const exchange = `perl -e 'syscall(${process.arch === 'arm64' ? 276 : 316}, -100, $ARGV[0], -100, $ARGV[1], 2)'`;

/** Every call that could change a file or its name. */
const ways = (file: string) => `
  cat evil.txt >> ${file}; cat evil.txt > ${file}; cp evil.txt ${file}; truncate -s 1 ${file}
  perl -e 'truncate "${file}", 1'; cp evil.txt n1; mv -f n1 ${file}; cp evil.txt n2; ${exchange} n2 ${file}; ${exchange} ${file} n2
  ln ${file} alias && cat evil.txt >> alias; exec 8< ${file}; cat evil.txt >> /proc/self/fd/8; cat evil.txt >> /dev/fd/8
  ln -L /proc/self/fd/8 alias2 && cat evil.txt >> alias2; ln -sf ${file} way; cat evil.txt >> way
  (cd $(dirname ${file}); cat /workspace/evil.txt >> $(basename ${file})); mv ${file} gone; ln -sf /workspace/evil.txt ${file}`;

test('no program changes what the person has put in place of a held file', async () => {
  const { fixture, run, replaced } = await openUnheld();
  for (const file of Object.keys(replaced)) await run(ways(file));
  await run(
    'cp evil.txt .git/hooks/pre-commit; cp evil.txt h; mv h .git/hooks/post-commit; ln -s evil.txt .git/hooks/x; mkdir .git/hooks/y',
  );
  for (const [file, content] of Object.entries(replaced)) {
    expect(readFileSync(fixture.at(file), 'utf8'), file).toBe(content);
    expect(statSync(fixture.at(file)).nlink, file).toBe(1);
  }
  expect(execFileSync('ls', ['-A', fixture.at('.git/hooks')], { encoding: 'utf8' })).toBe('');
});

/** Opens a harmless path, and meanwhile writes another one to the memory where the path is. */
const swap = `#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char path[64];
static const char *other;
static void *rewrite(void *nothing) { usleep(100000); strcpy(path, other); return nothing; }
int main(int argc, char **argv) {
  pthread_t thread;
  other = argv[2];
  strcpy(path, argv[1]);
  pthread_create(&thread, NULL, rewrite, NULL);
  int file = open(path, O_WRONLY | O_APPEND);
  pthread_join(thread, NULL);
  if (file >= 0 && write(file, "evil\\n", 5) == 5) puts("wrote");
  return argc != 3;
}
`;

test('a program that changes the path of a call after the check opens what was checked', async () => {
  const { fixture, run } = await openUnheld();
  copyFileSync(compileText(inits.path, 'swap', swap, ['-static', '-pthread']), fixture.at('swap'));
  chmodSync(fixture.at('swap'), 0o755);
  writeFileSync(fixture.at('plain.txt'), '');
  chmodSync(fixture.at('plain.txt'), 0o666);
  for (const path of ['plain.txt', '/dev/null', '/tmp/plain.txt'])
    await run(`touch /tmp/plain.txt; ./swap ${path} .git/config; ./swap ${path} .mcp.json`);
  expect(readFileSync(fixture.at('.git/config'), 'utf8')).toBe(settings);
  expect(readFileSync(fixture.at('.mcp.json'), 'utf8')).not.toContain('evil');
  expect(existsSync(fixture.at('swap'))).toBe(true);
});

/** Binds a socket, and meanwhile puts one of another family in its place. */
const exchangeSockets = `#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static int asked, local;
static void *exchange(void *nothing) { usleep(100000); dup2(local, asked); return nothing; }
int main(void) {
  struct sockaddr_un address = {AF_UNIX, "refs"};
  pthread_t thread;
  asked = socket(AF_INET, SOCK_STREAM, 0);
  local = socket(AF_UNIX, SOCK_STREAM, 0);
  pthread_create(&thread, NULL, exchange, NULL);
  bind(asked, (struct sockaddr *)&address, sizeof address);
  return pthread_join(thread, NULL);
}
`;

test('a program that changes the socket of a call after the check binds what was checked', async () => {
  const { fixture, run } = await openUnheld();
  copyFileSync(compileText(inits.path, 'exchange', exchangeSockets, ['-static', '-pthread']), fixture.at('exchange'));
  chmodSync(fixture.at('exchange'), 0o755);
  await run('mkdir odd odd/objects; cp evil.txt odd/config; cd odd; ../exchange; touch tried');
  expect(readdirSync(fixture.at('odd')).toSorted()).toEqual(['config', 'objects', 'tried']);
});

/** Time for the other sandbox, between the judgement of a directory and the call that makes it a git directory. */
const pause: InitEdit = [
  'init/guard/hold-repositories.c',
  /int result = adopt_still\(directory\);/,
  '$& usleep(500000);',
];

test('a hook or settings from another sandbox, in the moment in which a git directory is made, do not stay', async () => {
  using work = makeDirectory();
  chmodSync(work.path, 0o777);
  const provider = weaken([], { makeInit, edits: [pause] })({ ...operator, variables: {} } as never);
  const [one, other] = [await openSandbox(work.path, { provider }), await openSandbox(work.path, { provider })];
  const run = (sandbox: typeof one, command: string) =>
    runIn(sandbox, ['/bin/bash', '-c', `cd /workspace; ${command}`]);
  await Promise.all([
    run(
      one,
      'mkdir -p made/objects; echo "ref: refs/heads/main" > made/HEAD; until [ -e ready ]; do :; done; mkdir made/refs',
    ),
    run(
      other,
      `touch ready; until [ -d made/hooks ]; do :; done; echo evil > made/hooks/pre-commit
       printf '[core]\\n\\tfsmonitor = evil\\n' > n; mv -f n made/config`,
    ),
  ]);
  expect(existsSync(work.at('made/refs'))).toBe(true);
  expect(readdirSync(work.at('made/hooks'))).toEqual([]);
  expect(readFileSync(work.at('made/config'), 'utf8')).not.toContain('fsmonitor');
  expect(readdirSync(work.at('made')).filter((name) => name.startsWith('hooks.held-by-croft'))).toHaveLength(1);
});
