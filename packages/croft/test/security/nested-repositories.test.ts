import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { canary, configText, hookText, makePerson, type Person } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/** Repositories that an agent makes inside the person's, which git at the top looks into. */

let person: Person;
let workspaces: Workspaces;
let editing: Workspaces;
let worktrees: Workspaces;
beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, { count: 9, prepare: hollow });
  worktrees = await openWorkspaces(person, {
    count: 5,
    prepare: `${hollow}; git config extensions.worktreeConfig true`,
  });
  editing = await openWorkspaces(person, { count: 12, prepare: hollow, flags: ['--permission-mode', 'edit'] });
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  await editing[Symbol.asyncDispose]();
  await worktrees[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

/** An empty directory that git knows as another repository. */
const hollow =
  'git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),hollow; git commit -qm hollow; mkdir hollow';

function findProcess(name: string): string {
  const isOurs = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(name);
    } catch {
      return false;
    }
  };
  const found = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && isOurs(pid));
  if (found === undefined) throw new Error('the program of the sandbox has ended');
  return found;
}

describe('by commands', () => {
  const identity = 'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b';
  const set = `config core.fsmonitor '${canary('fsmonitor')}'`;
  test.each([
    [
      'a gitlink without .gitmodules',
      `git init -q lib; git -C lib commit -q --allow-empty -m x; git -C lib ${set}; git add lib`,
    ],
    ['a gitlink that was there', `git init -q hollow; git -C hollow ${set}`],
    [
      'a gitlink that is committed',
      `git init -q lib; git -C lib commit -q --allow-empty -m x; git -C lib ${set}; git add lib; git commit -qm lib`,
    ],
    [
      'settings before there is a HEAD',
      'git init -q hollow; mv hollow/.git/HEAD h; cat evil/all >> hollow/.git/config; mv h hollow/.git/HEAD',
    ],
    [
      'settings after the sandbox has looked',
      `git init -q hollow; git -C hollow status; sleep 0.5; git -C hollow ${set}`,
    ],
  ])('%s', async (_, command) => {
    const { top, bash } = workspaces.take();
    await bash(`${identity}\n${command}`);
    expect(await person.work(top)).toEqual([]);
  });

  const worktree = 'mkdir wt; echo ref: refs/heads/main > wt/HEAD; echo ../.git > wt/commondir';
  test.each([
    ['written', 'cp evil/all wt/config.worktree'],
    ['moved', 'cp evil/all next; mv next wt/config.worktree'],
    ['linked', 'cp evil/all next; ln next wt/config.worktree; ln -s ../evil/all wt/config.worktree'],
    ['moved while it is open', ': > next; exec 3>>next; mv next wt/config.worktree; cat evil/all >&3'],
    ['made before the rest', 'rm -r wt; mkdir w; cp evil/all w/config.worktree; mv w wt; echo ../.git > wt/commondir'],
  ])('settings of a worktree, %s, at the path of those of the person', async (_, command) => {
    const { top, bash } = worktrees.take();
    await bash(`${worktree}; ${command}; git rev-parse HEAD > wt/HEAD; echo gitdir: ../wt > hollow/.git`);
    expect(existsSync(`${top}/wt/commondir`)).toBe(true);
    expect(await person.work(top)).toEqual([]);
  });

  test.each(['/tmp', '/dev/shm'])(
    'settings in %s of the sandbox, to which a link in /proc leads',
    async (directory) => {
      const { top, bash } = workspaces.take();
      const name = `canary-${process.pid}-${directory.length}`;
      await bash(`git init -q --bare ${directory}/g; git -C ${directory}/g config core.bare false
      cat evil/all >> ${directory}/g/config; cp evil/hooks/* ${directory}/g/hooks/`);
      const running = bash(`exec -a ${name} sleep 8`);
      // An agent would guess the number: it can make a thousand such links, and start a thousand programs.
      const pid = await vi.waitFor(() => findProcess(name), { timeout: 10_000 });
      await bash(`ln -s /proc/${pid}/root${directory}/g hollow/.git`);
      expect(existsSync(`/proc/${pid}/root${directory}/g/HEAD`)).toBe(true);
      expect(await person.work(top)).toEqual([]);
      await running;
    },
  );

  const planting =
    'git init -q hollow; cat evil/all >> hollow/.git/config; cp -r evil/hooks hollow/.git/; cat evil/all >> .git/config';

  test('in a transaction that is committed', async () => {
    const { top, at, call } = workspaces.take();
    const { text } = await call('bash', { command: `${planting}; echo done > done`, transaction: true });
    await call('transaction_commit', { transaction: /transaction: (\S+)/.exec(text)?.[1] });
    expect(existsSync(at('done'))).toBe(true);
    expect(await person.work(top)).toEqual([]);
  });

  test('in a fork that is merged', async () => {
    const { top, at, call, session } = workspaces.take();
    await call('workspace_fork', { name: 'fork' });
    await session.call('bash', { workspace: 'fork', command: `${planting}; echo done > done` });
    const merged = await call('workspace_merge', { fork: 'fork' });
    expect(existsSync(at('done')), merged.text).toBe(true);
    expect(await person.work(top)).toEqual([]);
  });
});

describe('by file tools, if only commands need approvals', () => {
  const head = 'ref: refs/heads/main\n';
  const parts = { objects: 'objects/x', refs: 'refs/x' };
  const files = (top: string): Record<string, string> => ({
    HEAD: head,
    [parts.objects]: '',
    [parts.refs]: '',
    config: configText(top),
    'hooks/post-index-change': hookText,
  });
  const orders: Readonly<Record<string, readonly string[]>> = {
    'HEAD first': ['HEAD', 'objects/x', 'refs/x', 'config', 'hooks/post-index-change'],
    'HEAD last': ['config', 'hooks/post-index-change', 'objects/x', 'refs/x', 'HEAD'],
    'settings between': ['HEAD', 'config', 'objects/x', 'refs/x'],
  };

  test.each(
    Object.entries(orders).flatMap(([name, order]) =>
      ['hollow/.git', 'any/name', 'node_modules/package/.git'].map((at) => [`${at}, ${name}`, at, order] as const),
    ),
  )('written: %s', async (_, at, order) => {
    const { top, call } = editing.take();
    for (const name of order) await refusable(call, 'write', { file_path: `${at}/${name}`, content: files(top)[name] });
    expect(await person.inspect(top)).toEqual([]);
  });

  test.each(['hollow/.git', 'any/name'])('written elsewhere and moved: %s', async (at) => {
    const { top, call } = editing.take();
    for (const [name, content] of Object.entries(files(top))) {
      await refusable(call, 'write', { file_path: `parts/${name}`, content });
    }
    await refusable(call, 'move', { from: 'parts', to: at });
    expect(await person.inspect(top)).toEqual([]);
  });

  test('a file that points to a git directory', async () => {
    const { top, call } = editing.take();
    const { HEAD: _, ...shared } = files(top);
    for (const [name, content] of Object.entries(shared))
      await refusable(call, 'write', { file_path: `shared/${name}`, content });
    await refusable(call, 'write', { file_path: 'own/commondir', content: '../shared\n' });
    await refusable(call, 'write', { file_path: 'own/HEAD', content: head });
    await refusable(call, 'write', { file_path: 'hollow/.git', content: 'gitdir: ../own\n' });
    expect(await person.inspect(top)).toEqual([]);
  });
});

/** A call that asks a person is not answered in time, which is a refusal too. */
async function refusable(call: ReturnType<Workspaces['take']>['call'], name: string, args: Record<string, unknown>) {
  await call(name, args, { timeout: 3000 }).catch(() => {});
}
