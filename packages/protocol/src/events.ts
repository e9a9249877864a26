import { z } from 'zod';

/** One line of `--events`: something that happened to a workspace, a sandbox or a call. */
export const LifecycleEvent = z.object({
  event: z.enum([
    'lifecycle.start',
    'lifecycle.stop',
    'lifecycle.server.stall',
    'lifecycle.server.outage',
    'lifecycle.workspace.sandbox',
    'lifecycle.workspace.profile',
    'lifecycle.workspace.storage',
    'lifecycle.storage.outage',
    'lifecycle.workspace.history',
    'lifecycle.workspace.left',
    'lifecycle.workspace.gone',
    'lifecycle.effect.format',
    'lifecycle.effect.lint',
    'lifecycle.skills.synced',
    'lifecycle.mcp.server',
    'lifecycle.code.server',
    'lifecycle.runner.online',
    'lifecycle.runner.reconnecting',
    'lifecycle.runner.offline',
    'lifecycle.runner.refused',
    'lifecycle.sandbox.violation',
    'lifecycle.approval.requested',
    'lifecycle.approval.decided',
    'lifecycle.approval.used',
    'lifecycle.tool.call',
    'lifecycle.tool.result',
  ]),
  sequence: z.int().positive(),
  ts: z.iso.datetime(),
  fields: z.record(z.string(), z.unknown()),
});
export type LifecycleEvent = z.output<typeof LifecycleEvent>;
export type LifecycleEventName = LifecycleEvent['event'];
