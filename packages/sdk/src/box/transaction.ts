import { z } from 'zod';
import { toCallSeconds } from './call-seconds.ts';
import { type CommandResult, Violation } from './command-result.ts';
import type { ExecOptions } from './exec.ts';
import type { CallOptions, ToolCaller } from './tool-caller.ts';

const Row = z.object({ path: z.string(), size: z.int() });
const Paths = z.array(z.string());

const Ran = z.object({
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  timedOut: z.boolean(),
  output: z.string(),
  truncated: z.boolean(),
  denials: z.array(Violation),
  changes: z.object({
    transaction: z.string(),
    expiresAt: z.string(),
    added: z.array(Row),
    modified: z.array(Row),
    deleted: z.array(Row),
    paths: z.int(),
    bytes: z.int(),
    diff: z.string(),
    truncated: z.boolean(),
  }),
});
const Committed = z.object({ added: Paths, changed: Paths, removed: Paths, refused: Paths });
const Discarded = z.object({ discarded: z.string() });

/** The changes of a command on a copy of the workspace, until they are committed or discarded. */
export interface Transaction extends AsyncDisposable {
  /** Both streams of the command are in `stdout`, in the order in which they were printed. */
  readonly result: CommandResult;
  /** Changes that a commit would make. */
  readonly changes: z.output<typeof Ran>['changes'];
  /** All changes, or none if one of the paths has changed in the workspace meanwhile (`E_CONFLICT`). */
  commit(options?: CallOptions): Promise<z.output<typeof Committed>>;
  discard(options?: CallOptions): Promise<void>;
}

/** Runs a command on a copy. What is neither committed nor discarded at the end of `await using` is discarded. */
export async function transact(
  caller: ToolCaller,
  command: string,
  { timeout, cwd, secrets, signal }: Omit<ExecOptions, 'check'> = {},
): Promise<Transaction> {
  const more = { ...(cwd !== undefined && { cwd }), ...(secrets && { secrets }) };
  const ran = await caller.call(
    'bash',
    { command, timeout: Math.ceil(toCallSeconds(timeout)), transaction: true, ...more },
    Ran,
    { signal },
  );
  const { denials: violations, output: stdout, changes, ...ended } = ran;
  const named = { transaction: changes.transaction };
  let isOver = false;
  const discard = async (options?: CallOptions) => {
    isOver = true;
    await caller.call('transaction_discard', named, Discarded, options);
  };
  return {
    result: { ...ended, stdout, stderr: '', violations },
    changes,
    async commit(options) {
      const committed = await caller.call('transaction_commit', named, Committed, options);
      isOver = true;
      return committed;
    },
    discard,
    async [Symbol.asyncDispose]() {
      if (!isOver) await discard();
    },
  };
}
