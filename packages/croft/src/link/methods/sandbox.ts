import { z } from 'zod';
import { AllowControl, defineMethod, Id, RootPath } from './define-method.ts';

/** The same limit as the frames to the init of a sandbox: a longer command can start nowhere. */
export const maxCommandBytes = 1024 * 1024;
/** The channels of a program. */
export const streams = { stdin: 0, stdout: 1, stderr: 2, command: 3 } as const;
/** The longest command that is part of the call. A longer one is sent as JSON on the `command` channel. */
export const maxInlineBytes = 256 * 1024;

const maxEntries = 1000;
const Limit = z.number().positive().max(Number.MAX_SAFE_INTEGER);
const Limits = z.strictObject({
  memoryBytes: Limit,
  processes: Limit,
  cpus: Limit,
  fileBytes: Limit,
  openFiles: Limit,
  diskBytes: Limit,
});
const Mode = z.enum(['deny-all', 'restricted', 'public', 'allow-all']);
const Entries = z.array(z.string().max(300)).max(maxEntries).optional();

/** The side that opens the sandbox validates the entries. */
const Network = z.strictObject({
  mode: Mode,
  domains: Entries,
  cidrs: Entries,
  onlyPublic: z.boolean().optional(),
});

export const wantedSandbox = { limits: Limits, network: Network, allowControl: AllowControl };

/**
 * A sandbox is one long call. The runner sends `open` when the sandbox is open and answers when it is closed.
 * Cancelling the call closes the sandbox.
 */
export const openSandbox = defineMethod('sandbox.open', z.strictObject({ place: Id, ...wantedSandbox }), z.null());

const Denial = z.object({
  layer: z.enum(['file', 'limit', 'network', 'system-call']),
  rule: z.string().max(1000),
  target: z.string().max(16_384),
  next: z.string().max(4096),
});
const Denials = z.array(Denial).max(100);

const SandboxOpened = z.object({
  type: z.literal('open'),
  sandbox: Id,
  name: z.string().regex(/^[\w.-]{1,100}$/),
  workspacePath: RootPath,
  /** Runners of older releases send no path. They use `/tmp` in every sandbox. */
  temporaryPath: RootPath.default('/tmp'),
  network: Mode,
  limits: z.object(Limits.shape),
  /** Whether it takes `suspend` and `resume`. Runners of older releases take neither. */
  canSuspend: z.boolean().default(false),
});
export const SandboxEvent = z.discriminatedUnion('type', [
  SandboxOpened,
  z.object({ type: z.literal('denials'), denials: Denials }),
  z.object({ type: z.literal('gone') }),
]);
export const SandboxOrder = z.strictObject({ type: z.enum(['close', 'end', 'give-up', 'suspend', 'resume']) });

const Text = z.string().max(maxCommandBytes);
const Size = z.int().min(0).max(65_535);
const Terminal = z.strictObject({ rows: Size, columns: Size });
const Exit = z.object({
  code: z.int().min(0).max(255).nullable(),
  signal: z
    .string()
    .regex(/^[\w +-]{1,40}$/)
    .nullable(),
  usage: z.object({
    userMs: z.number().nonnegative(),
    systemMs: z.number().nonnegative(),
    maxRssBytes: z.number().nonnegative(),
  }),
});

export const Command = z.strictObject({
  argv: z.tuple([Text], Text),
  directory: Text.optional(),
  environment: z.record(Text, Text).optional(),
  hasInput: z.boolean(),
  isMerged: z.boolean(),
  terminal: Terminal.optional(),
});
/**
 * A failure of the program is an answer too, because a failed call would discard the output that is still in flight.
 */
const Failure = z.object({
  code: z.string().max(100),
  message: z.string().max(64 * 1024),
  details: z.record(z.string(), z.unknown()),
});
export const Ended = z.union([z.object({ exit: Exit }), z.object({ failure: Failure })]);

/** Runs one program. Its streams are channels, and its exit is the answer, after everything that it wrote. */
export const startProgram = defineMethod(
  'sandbox.start',
  z.strictObject({ sandbox: Id, command: Command.optional() }),
  z.object({ end: Ended, denials: Denials }),
);
export const ProgramOrder = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('kill') }),
  z.strictObject({ type: z.literal('signal'), name: z.string().regex(/^SIG[A-Z0-9]{1,12}$/) }),
  Terminal.extend({ type: z.literal('resize') }),
]);

/** Runs one search in the search box of a workspace. `kill` is the only order it takes. */
export const startSearch = defineMethod(
  'search.start',
  z.strictObject({
    place: Id,
    argv: z.tuple([z.string().regex(/^[a-z0-9-]{1,40}$/)], Text),
    withTimes: z.strictObject({ suffix: z.string().max(4096) }).optional(),
  }),
  z.object({ end: Ended }),
);
