import { z } from 'zod';

const ListeningPort = z.object({ port: z.int(), address: z.string() });

/** A sandbox that is open on this server now. `null`: its provider does not measure that, or it is on a runner. */
export const OpenSandbox = z.object({
  /** Tells open sandboxes apart. */
  id: z.string(),
  workspaceId: z.string(),
  workspace: z.string(),
  /** The agent, or the person who has a terminal. */
  openedBy: z.string(),
  openedAt: z.iso.datetime(),
  /** Whether the programs of a persistent sandbox are stopped, because nobody used it for its idle time. */
  isSuspended: z.boolean(),
  processes: z.int().nonnegative().nullable(),
  memoryBytes: z.int().nonnegative().nullable(),
  /** Processor time since it was opened. */
  processorMs: z.number().nonnegative().nullable(),
  /** Addresses inside the sandbox at which programs listen. */
  ports: z.array(ListeningPort),
  limits: z.object({ memoryBytes: z.number(), processes: z.number(), cpus: z.number() }),
});
export type OpenSandbox = z.output<typeof OpenSandbox>;

/** The sandboxes of one definition that are open on this server, with their usage. */
export const LiveSandboxes = z.object({ at: z.iso.datetime(), open: z.array(OpenSandbox) });
export type LiveSandboxes = z.output<typeof LiveSandboxes>;
