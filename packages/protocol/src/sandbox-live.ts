import { z } from 'zod';

const ListeningPort = z.object({ port: z.int(), address: z.string() });

/** A sandbox that is open now, on this server. */
export const OpenSandbox = z.object({
  sandboxId: z.string(),
  workspace: z.string(),
  workspaceId: z.string(),
  /** Who has it: the session of an agent, or the terminal of a person. */
  kind: z.enum(['session', 'terminal']),
  agentId: z.string().optional(),
  session: z.string().optional(),
  person: z.string().optional(),
  limits: z.object({ memoryBytes: z.int(), processes: z.int(), cpus: z.number() }),
  /** Left out: it cannot be measured, because the host has no control groups, or it is on a runner. */
  usage: z
    .object({
      /** Processor time since the sandbox was opened; the difference of two answers is the load. */
      processorMs: z.number().optional(),
      memoryBytes: z.int(),
      processes: z.int(),
    })
    .optional(),
  /** TCP ports that programs inside listen on. Left out: not known. */
  ports: z.array(ListeningPort).optional(),
});
export type OpenSandbox = z.output<typeof OpenSandbox>;

export const SandboxLive = z.object({ at: z.iso.datetime(), open: z.array(OpenSandbox) });
export type SandboxLive = z.output<typeof SandboxLive>;
