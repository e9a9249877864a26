import { z } from 'zod';

/** Where a runner connects to, and what it speaks there. See docs/runner-protocol.md. */
export const runnerLinkPath = '/v1/runner-link';
export const runnerSubprotocol = 'croft.runner.1';
export const runnerLinkVersion = 1;
/** Of a runner that opens workspaces in buckets, and holds workspaces to their quotas. */
export const runnerStores = 'storage';
/** Of a runner that takes away what it made for a workspace when the record of that goes. */
export const runnerRemoves = 'removal';
/** Of a runner that forks what it has, where it has it. */
export const runnerForks = 'forks';

/** One line of a stranger: short, and without anything that a terminal would obey. */
function line(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine(
      (text) => text.isWellFormed() && !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text),
      'must not have control characters',
    );
}

const Capabilities = z.array(line(64)).max(64);
const Sequence = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const LinkId = z.string().regex(/^[0-9a-f]{32}$/);

/** What a runner says of itself. Not trusted for anything but its own sandboxes. */
export const RunnerReportInput = z.object({
  /** What its operator takes it for, which has to be what its token says. */
  name: line(64).optional(),
  version: line(64),
  provider: line(64),
  labels: z
    .record(line(128), z.union([line(128), z.literal('')]))
    .refine((labels) => Object.keys(labels).length <= 64, 'must be at most 64 labels'),
  capacity: z.int().min(0).max(1_000_000),
  workspaces: z.array(line(128)).max(1000),
  makesWorkspaces: z.boolean(),
});

/** The first message of a connection. `link` is the one to go on with, if there is one. */
export const RunnerHello = z.object({
  type: z.literal('hello'),
  version: z.literal(runnerLinkVersion),
  capabilities: Capabilities,
  link: LinkId.optional(),
  /** Of the process that dials, for as long as it lives: by this the server tells one machine from another. */
  instance: LinkId.optional(),
  /** The last sequence number that came over it. */
  received: Sequence,
  report: RunnerReportInput,
});
export type RunnerHello = z.output<typeof RunnerHello>;

/** What a hello of any version has. */
export const RunnerHelloVersion = z.object({ type: z.literal('hello'), version: z.int() });

export const RunnerWelcome = z.object({
  type: z.literal('welcome'),
  version: z.literal(runnerLinkVersion),
  capabilities: Capabilities,
  link: LinkId,
  /** Whether it is the link of the hello. If not, that one is lost. */
  resumed: z.boolean(),
  received: Sequence,
  graceMs: z.int().min(0).max(86_400_000),
  heartbeatMs: z.int().min(10).max(3_600_000),
});
export type RunnerWelcome = z.output<typeof RunnerWelcome>;

export const RunnerRefusalCode = z.enum(['AUTH_FAILED', 'INVALID', 'FORBIDDEN', 'VERSION', 'IN_USE']);
export type RunnerRefusalCode = z.output<typeof RunnerRefusalCode>;

export const RunnerRefused = z.object({
  type: z.literal('refused'),
  code: RunnerRefusalCode,
  message: z.string().max(2000),
});
export type RunnerRefused = z.output<typeof RunnerRefused>;

export const RunnerGreeting = z.discriminatedUnion('type', [RunnerWelcome, RunnerRefused]);
export type RunnerGreeting = z.output<typeof RunnerGreeting>;
