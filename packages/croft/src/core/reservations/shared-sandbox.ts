import { AppError } from '@croft/protocol';
import type { CommandSpec, RunningProgram, Sandbox, SandboxDenial } from '../commands/sandbox.ts';

/** Called around the commands of all sessions, because the programs of an idle sandbox are stopped. */
interface BeforeCommands {
  /** Lets stopped programs continue. */
  thaw(): void;
  /** Lets stopped programs continue, and runs what has to run before the next command. */
  ready(): Promise<void>;
  /** Called when a session has left. */
  onLeft(): void;
}

interface Share {
  readonly programs: Set<RunningProgram>;
  readonly denials: SandboxDenial[];
}

export type SharedSandbox = ReturnType<typeof createSharedSandbox>;

/** One sandbox that several sessions use at once. */
export function createSharedSandbox(sandbox: Sandbox, { thaw, ready, onLeft }: BeforeCommands) {
  const shares = new Set<Share>();
  const isInUse = () => [...shares].some(({ programs }) => programs.size > 0);
  const ended = resolvesWith(sandbox.closed);
  let usedAt = performance.now();
  let whyEnded: string | undefined;
  void sandbox.ended?.then(() => ended.resolve());

  return {
    share,
    isShared: () => shares.size > 0,
    /** How long nothing has used it. A program that a session waits for, or has in the background, is a use. */
    idleMs: () => (isInUse() ? 0 : performance.now() - usedAt),
    /** Sends sessions to another sandbox with their next call. What runs goes on. */
    retire: () => ended.resolve(),
    /** Ends the programs of all sessions, which are told why, and takes no more commands. */
    async end(reason: string, denial?: SandboxDenial): Promise<void> {
      whyEnded ??= reason;
      ended.resolve();
      if (denial) for (const { denials } of shares) denials.push(denial);
      await Promise.all([...shares].map(({ programs }) => endPrograms(programs)));
      await sandbox.close();
    },
  };

  /** Returns the sandbox for one session. Closing it ends the programs that this session started, and no others. */
  function share(): Sandbox {
    const own: Share = { programs: new Set(), denials: [] };
    shares.add(own);
    usedAt = performance.now();
    const closed = resolvesWith(sandbox.closed);
    const { suspend: _, ...parts } = sandbox;
    return {
      ...parts,
      async ready(command) {
        await ready();
        await sandbox.ready?.(command);
      },
      start: (command) => start(own, command),
      takeDenials: () => takeDenials(own),
      async close() {
        if (!shares.delete(own)) return closed.promise;
        await endPrograms(own.programs);
        closed.resolve();
        onLeft();
      },
      closed: closed.promise,
      ended: ended.promise,
    };
  }

  function start({ programs }: Share, command: CommandSpec): RunningProgram {
    if (whyEnded !== undefined) throw new AppError('E_SANDBOX_UNAVAILABLE', whyEnded);
    thaw();
    const program = sandbox.start(command);
    programs.add(program);
    const forget = () => {
      programs.delete(program);
      usedAt = performance.now();
    };
    program.exit.then(forget, forget);
    return program;
  }

  /** The sandbox does not know whose program was refused something: everybody with a program in it is told. */
  function takeDenials(own: Share): SandboxDenial[] {
    const fresh = sandbox.takeDenials();
    for (const share of shares) if (share === own || share.programs.size > 0) share.denials.push(...fresh);
    return own.denials.splice(0);
  }
}

/** A promise that can be resolved, and resolves with the other one at the latest. */
function resolvesWith(other: Promise<void>): PromiseWithResolvers<void> {
  const resolvers = Promise.withResolvers<void>();
  other.then(
    () => resolvers.resolve(),
    () => resolvers.resolve(),
  );
  return resolvers;
}

/** A program has ended only after its output was read, and nobody reads it any more. */
async function endPrograms(programs: ReadonlySet<RunningProgram>): Promise<void> {
  const all = [...programs];
  for (const { kill } of all) kill();
  await Promise.all(
    all.map(({ stdout, stderr, exit }) => {
      for (const output of [stdout, stderr]) if (output.listenerCount('readable') === 0) output.resume();
      return exit.catch(() => {});
    }),
  );
}
