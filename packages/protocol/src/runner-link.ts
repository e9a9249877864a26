import { z } from 'zod';

/** The endpoint for runners, and its protocol version. See docs/runner-protocol.md. */
export const runnerLinkPath = '/v1/runner-link';
export const runnerSubprotocol = 'croft.runner.1';
export const runnerLinkVersion = 1;
/** Capability of a runner that opens workspaces in buckets, and enforces quotas. */
export const runnerStores = 'storage';
/** Capability of a runner that removes its files of a workspace when the record is removed. */
export const runnerRemoves = 'removal';
/** Capability of a runner that forks its workspaces on its own machine. */
export const runnerForks = 'forks';

/** One line of untrusted text: short, and without characters that a terminal would obey. */
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

/** The report of a runner about itself. Trusted only for its own sandboxes. */
export const RunnerReportInput = z.object({
  /** The name that the operator of the machine expects. It must be the name in the token. */
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

/** The first message of a connection. `link` is the link to resume, if there is one. */
export const RunnerHello = z.object({
  type: z.literal('hello'),
  version: z.literal(runnerLinkVersion),
  capabilities: Capabilities,
  link: LinkId.optional(),
  /** Id of the dialling process for its lifetime. The server uses it to tell machines apart. */
  instance: LinkId.optional(),
  /** The last sequence number received over that link. */
  received: Sequence,
  report: RunnerReportInput,
});
export type RunnerHello = z.output<typeof RunnerHello>;

/** The fields of a hello in every version. */
export const RunnerHelloVersion = z.object({ type: z.literal('hello'), version: z.int() });

export const RunnerWelcome = z.object({
  type: z.literal('welcome'),
  version: z.literal(runnerLinkVersion),
  capabilities: Capabilities,
  link: LinkId,
  /** Whether the link of the hello is resumed. If not, that link is lost. */
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
