import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HostOptions } from '../src/app.ts';
import type { Provider, SandboxLimits, SandboxSpec } from '../src/core/commands/sandbox.ts';
import type { Guard } from '../src/escapes/escape.ts';
import { createInitFinder } from '../src/init/binary.ts';
import { findGroups } from '../src/lib/cgroup/cgroup.ts';
import { toFence } from '../src/providers/bubblewrap/fence.ts';
import { createBubblewrap } from '../src/providers/bubblewrap/provider.ts';

const native = join(import.meta.dirname, '../native');

type Edit = readonly [file: string, found: RegExp, instead: string];

/** How each guard that the init raises is taken out of its sources. The product has no switch for any of it. */
const edits: Partial<Record<Guard, readonly Edit[]>> = {
  'system-calls': [['init.c', /fence_load\(&refusals\) != 0/, '0']],
  'control-files': [['init.c', /pins_place\(workspace\) != 0/, '0']],
  capabilities: [['init.c', /pins_drop_privileges\(\) != 0/, '0']],
  landlock: [['init.c', /landlock_restrict\(writable\) != 0/, '0']],
  init: [
    ['init.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\) != 0/, '0'],
    ['init.c', /fcntl\(SOCKET, F_SETFD, FD_CLOEXEC\) != 0/, '0'],
    ['keeper.c', /prctl\(PR_SET_DUMPABLE, 0, 0, 0, 0\);/, ''],
    ['keeper.c', /syscall\(SYS_close_range, 3, ~0U, 0\);/, ''],
    ['end.c', /keeper_kill\(command->keeper, is_keeper\);/, 'kill(-command->program, SIGKILL);'],
  ],
  limits: [['keeper.c', /limit\(RLIMIT_CORE, 0\);/, '']],
};

/** Compiles copies of the init that lack guards, each once. */
export function createInitMaker(directory: string) {
  const made = new Map<string, string>();
  return (guards: readonly Guard[], further: readonly Edit[] = []): string => {
    const wanted = [...guards.flatMap((guard) => edits[guard] ?? []), ...further];
    const key = wanted.map(String).sort().join('\n');
    const known = made.get(key);
    if (known !== undefined) return known;
    const built = wanted.length === 0 ? createInitFinder()() : compile(join(directory, `init-${made.size}`), wanted);
    made.set(key, built);
    return built;
  };
}

export type InitMaker = ReturnType<typeof createInitMaker>;

function compile(folder: string, wanted: readonly Edit[]): string {
  mkdirSync(folder, { mode: 0o755 });
  const names = readdirSync(native).filter((name) => statSync(join(native, name)).isFile());
  for (const name of names) {
    const own = wanted.filter(([file]) => file === name);
    writeFileSync(join(folder, name), own.reduce(takeOut, readFileSync(join(native, name), 'utf8')));
  }
  const sources = names.filter((name) => name.endsWith('.c')).map((name) => join(folder, name));
  execFileSync('cc', ['-O1', '-w', '-static', '-o', join(folder, 'init'), ...sources]);
  return join(folder, 'init');
}

function takeOut(source: string, [file, found, instead]: Edit): string {
  const count = source.match(new RegExp(found, 'g'))?.length;
  if (count !== 1) throw new Error(`${found} is in ${file} ${count ?? 0} times: say here how its guard looks now`);
  return source.replace(found, instead);
}

/** A provider whose sandboxes lack guards. Still bubblewrap, so that nothing is ever attempted on the machine itself. */
export function weaken(guards: readonly Guard[], makeInit: InitMaker) {
  const lacks = (guard: Guard) => guards.includes(guard);
  return (host: HostOptions): Provider => {
    const weakFence: typeof toFence = (options) => {
      let fence = toFence(options);
      if (lacks('namespaces')) fence = shareNamespaces(fence);
      if (lacks('network') && options.spec.network.mode === 'deny-all') fence = shareNetwork(fence);
      if (lacks('mounts')) fence = showMore(fence, options.spec.workspacePath);
      return fence;
    };
    const parts = { findInit: () => makeInit(guards), toFence: weakFence, groups: findGroups() };
    let provider = createBubblewrap({ path: host.path, home: homedir() }, parts);
    if (lacks('limits')) provider = withMore(provider);
    if (lacks('environment')) provider = withVariables(provider, host);
    if (lacks('refusal')) provider = withSomethingElse(provider);
    return provider;
  };
}

/** All but those of users, mounts and the network, which other guards are made of. */
function shareNamespaces(fence: readonly string[]): string[] {
  return fence
    .filter((word) => word !== '--as-pid-1' && word !== '--hostname' && word !== 'croft')
    .flatMap((word) => (word === '--unshare-all' ? ['--unshare-user', '--unshare-net'] : [word]));
}

function shareNetwork(fence: readonly string[]): string[] {
  return fence.flatMap((word) => (word === '--unshare-all' ? [word, '--share-net'] : [word]));
}

/** What is around the workspace, and the machine’s own settings as they are. */
function showMore(fence: readonly string[], workspacePath: string): string[] {
  const around = dirname(workspacePath);
  const shown = ['--ro-bind', '/sys', '/sys', ...(around === '/' ? [] : ['--bind', around, around])];
  return fence.flatMap((word, index) => {
    if (word === '--remount-ro' || fence[index - 1] === '--remount-ro') return [];
    return word === '--bind-fd' ? [...shown, word] : [word];
  });
}

/** A few times more, never without end: what is attempted must stay harmless. */
function withMore(provider: Provider): Provider {
  const more = (limits: SandboxLimits) =>
    Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, 4 * value])) as unknown as SandboxLimits;
  return { ...provider, open: (spec) => provider.open({ ...spec, limits: more(spec.limits) }) };
}

function withVariables(provider: Provider, { variables }: HostOptions): Provider {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
  return {
    ...provider,
    async open(spec: SandboxSpec) {
      const sandbox = await provider.open(spec);
      const inherited = given as Record<string, string>;
      return {
        ...sandbox,
        start: (command) => sandbox.start({ ...command, environment: { ...inherited, ...command.environment } }),
      };
    },
  };
}

function withSomethingElse(provider: Provider): Provider {
  return {
    ...provider,
    open: (spec) => provider.open(spec).catch(() => provider.open({ ...spec, workspacePath: '/workspace' })),
  };
}
