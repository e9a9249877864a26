import { z } from 'zod';
import { Id, method, RootPath } from './common.ts';

/** As the frames to the init of a sandbox: what does not fit there starts nowhere. */
export const maxCommandBytes = 1024 * 1024;
/** The streams of a program. */
export const streams = { stdin: 0, stdout: 1, stderr: 2, command: 3 } as const;
/** Of a command that goes with its call. A longer one comes as JSON on a channel of its own. */
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

/** The entries are judged by the one who opens it. */
export const Network = z.strictObject({
  mode: Mode,
  domains: Entries,
  cidrs: Entries,
  onlyPublic: z.boolean().optional(),
});

export const wantedSandbox = { limits: Limits, network: Network };

/** A sandbox is one call: told that it is open, and answered when it is gone. Taking the call back closes it. */
export const openSandbox = method('sandbox.open', z.strictObject({ place: Id, ...wantedSandbox }), z.null());

const Denial = z.object({
  layer: z.enum(['file', 'limit', 'network', 'system-call']),
  rule: z.string().max(1000),
  target: z.string().max(16_384),
  next: z.string().max(4096),
});
export const Denials = z.array(Denial).max(100);

export const SandboxOpened = z.object({
  type: z.literal('open'),
  sandbox: Id,
  name: z.string().regex(/^[\w.-]{1,100}$/),
  workspacePath: RootPath,
  network: Mode,
  limits: z.object(Limits.shape),
});
export const SandboxNews = z.discriminatedUnion('type', [
  SandboxOpened,
  z.object({ type: z.literal('denials'), denials: Denials }),
  z.object({ type: z.literal('gone') }),
]);
export const SandboxOrder = z.strictObject({ type: z.enum(['close', 'end', 'give-up']) });

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
/** What went wrong with it is an answer too: a call that fails takes what is still on its way with it. */
const Failure = z.object({
  code: z.string().max(100),
  message: z.string().max(64 * 1024),
  details: z.record(z.string(), z.unknown()),
});
export const Ended = z.union([z.object({ exit: Exit }), z.object({ failure: Failure })]);

/** One program: its streams are channels, and its end is the answer, after everything that it wrote. */
export const startProgram = method(
  'sandbox.start',
  z.strictObject({ sandbox: Id, command: Command.optional() }),
  z.object({ end: Ended, denials: Denials }),
);
export const ProgramOrder = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('kill') }),
  z.strictObject({ type: z.literal('signal'), name: z.string().regex(/^SIG[A-Z0-9]{1,12}$/) }),
  Terminal.extend({ type: z.literal('resize') }),
]);

/** One search, in the box of its workspace. Told to end by `kill` alone. */
export const startSearch = method(
  'search.start',
  z.strictObject({
    place: Id,
    argv: z.tuple([z.string().regex(/^[a-z0-9-]{1,40}$/)], Text),
    withTimes: z.strictObject({ suffix: z.string().max(4096) }).optional(),
  }),
  z.object({ end: Ended }),
);
