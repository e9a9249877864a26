import { z } from 'zod';

/** The meaning of each event of `--events`, and the fields that it always or often has. */
export const lifecycleEvents = {
  'lifecycle.start': { about: 'the program has opened its workspaces', fields: ['workspaces', 'read_only'] },
  'lifecycle.stop': { about: 'the program ends', fields: [] },
  'lifecycle.server.stall': {
    about: 'the main thread answered nobody for 50 ms or more',
    fields: ['duration_ms', 'processor_ms'],
  },
  'lifecycle.server.outage': {
    about: 'something that the server needs stopped working, or works again',
    fields: ['dependency', 'state', 'reason', 'duration_ms'],
  },
  'lifecycle.workspace.sandbox': {
    about: 'a sandbox was opened for a workspace',
    fields: ['workspace', 'sandbox_root', 'provider', 'network'],
  },
  'lifecycle.workspace.profile': {
    about: 'the projects of a workspace were found, or have changed',
    fields: ['workspace', 'profiles'],
  },
  'lifecycle.workspace.storage': {
    about: 'the files of a workspace come from a bucket',
    fields: ['workspace', 'phase', 'done', 'total'],
  },
  'lifecycle.storage.outage': {
    about: 'a bucket does not answer, or answers again',
    fields: ['bucket', 'state', 'since'],
  },
  'lifecycle.workspace.history': {
    about: 'the history of a workspace stores no more',
    fields: ['workspace', 'state', 'reason'],
  },
  'lifecycle.workspace.left': {
    about: 'a removed workspace still has files on a runner',
    fields: ['account', 'workspace', 'runner', 'reason'],
  },
  'lifecycle.workspace.gone': { about: 'those files are removed now', fields: ['account', 'workspace', 'runner'] },
  'lifecycle.effect.format': { about: 'a formatter ran after a change', fields: ['workspace', 'session', 'files'] },
  'lifecycle.effect.lint': {
    about: 'a linter ran after a change',
    fields: ['workspace', 'session', 'files', 'has_errors'],
  },
  'lifecycle.skills.synced': {
    about: 'skills and sub-agents of the server were copied into a workspace',
    fields: ['workspace', 'conflicts'],
  },
  'lifecycle.mcp.server': {
    about: 'an MCP server in a sandbox started, ended, failed or was left out',
    fields: ['workspace', 'session', 'server', 'state', 'reason'],
  },
  'lifecycle.code.server': {
    about: 'a language server started, ended or failed',
    fields: ['workspace', 'server', 'state', 'reason'],
  },
  'lifecycle.runner.online': { about: 'a runner has connected', fields: ['account', 'runner', 'version', 'reason'] },
  'lifecycle.runner.reconnecting': {
    about: 'the link to a runner is cut, and waits for the runner',
    fields: ['account', 'runner', 'version', 'reason'],
  },
  'lifecycle.runner.offline': {
    about: 'a runner is gone; its work in progress has ended',
    fields: ['account', 'runner', 'version', 'reason'],
  },
  'lifecycle.runner.refused': {
    about: 'a second machine came with the token of a runner',
    fields: ['account', 'runner', 'address', 'reason'],
  },
  'lifecycle.sandbox.persistent': {
    about: 'a persistent sandbox was created, reopened, suspended or resumed, or has ended',
    fields: ['account', 'sandbox', 'workspace', 'state', 'reason'],
  },
  'lifecycle.sandbox.violation': {
    about: 'a sandbox or a path check refused something',
    fields: ['layer', 'rule', 'target'],
  },
  'lifecycle.approval.requested': {
    about: 'a call waits for a person',
    fields: ['approval', 'account', 'agent', 'session', 'tool', 'workspace', 'inbox', 'expires_at'],
  },
  'lifecycle.approval.decided': {
    about: 'a person has decided',
    fields: ['approval', 'account', 'agent', 'session', 'tool', 'workspace', 'state', 'scope', 'decided_by'],
  },
  'lifecycle.approval.used': {
    about: 'a call has used an approval',
    fields: ['approval', 'account', 'agent', 'session', 'tool', 'workspace', 'scope'],
  },
  'lifecycle.tool.call': { about: 'a call has begun', fields: ['tool', 'workspace', 'session', 'arguments'] },
  'lifecycle.tool.result': { about: 'a call has ended', fields: ['tool', 'workspace', 'session', 'is_error'] },
} as const satisfies Readonly<Record<string, { readonly about: string; readonly fields: readonly string[] }>>;

const names = Object.keys(lifecycleEvents) as (keyof typeof lifecycleEvents)[];

/** One line of `--events`: something that happened to a workspace, a sandbox or a call. */
export const LifecycleEvent = z.object({
  event: z.enum(names),
  sequence: z.int().positive(),
  ts: z.iso.datetime(),
  fields: z.record(z.string(), z.unknown()),
});
export type LifecycleEvent = z.output<typeof LifecycleEvent>;
export type LifecycleEventName = LifecycleEvent['event'];
