import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { HandleTable } from '../app/fleet/handle-table.ts';
import { parseBySchema } from '../core/arguments/parse-by-schema.ts';
import type { RunnerWorkspace } from '../core/runner-workspaces/runner-workspace.ts';
import { parseJson } from '../lib/text/parse-json.ts';
import { sendJson } from '../link/calls/bounded-streams.ts';
import type { ServedCall } from '../link/calls/peer.ts';

export { createHandleTable, type HandleTable } from '../app/fleet/handle-table.ts';
export { type LinkHandlers, serveMethod } from '../app/fleet/serve-method.ts';

export type ServedWorkspaces = HandleTable<RunnerWorkspace>;

/** Enforces on the runner that a workspace is read-only, whatever the server does. */
export function mustBeWritable(workspace: RunnerWorkspace): RunnerWorkspace {
  if (workspace.access === 'read-write') return workspace;
  throw new AppError('E_READ_ONLY', 'workspace is read-only: its runner offers it read-only', {
    hint: 'Nothing was done. Read the files here, or ask the operator of the runner to offer the workspace for writing.',
  });
}

/** A message of the server that does not match the schema fails the call. */
export function listen<Schema extends z.ZodType>(
  call: ServedCall,
  schema: Schema,
  onMessage: (message: z.output<Schema>) => void,
): void {
  call.onMessage((message) => onMessage(parseBySchema(schema, message)));
}

/** Rejects when the signal aborts. Never resolves. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const leave = () => aborted.reject(signal.reason);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return aborted.promise;
}

/** Sends JSON on a channel, because the answer of a call has to fit into one message. */
export async function answerJson(call: ServedCall, channel: number, value: unknown): Promise<null> {
  await sendJson(call.writable(channel), value, call);
  return null;
}

export function parseSentJson(bytes: Buffer): unknown {
  const parsed = parseJson(bytes);
  if (parsed === undefined) throw new AppError('E_INVALID_INPUT', 'the content of the message is not JSON');
  return parsed;
}
