import type { z } from 'zod';
import { parseBySchema } from '../../core/arguments/parse-by-schema.ts';
import type { CallHandler, ServedCall } from '../../link/calls/peer.ts';
import type { LinkMethod } from '../../link/methods/define-method.ts';

export type LinkHandlers = Readonly<Record<string, CallHandler>>;

/** The other side may be hostile: its parameters are parsed before use. */
export function serveMethod<Params extends z.ZodType, Answer extends z.ZodType>(
  { name, params: schema }: LinkMethod<Params, Answer>,
  handle: (params: z.output<Params>, call: ServedCall) => Promise<z.input<Answer>>,
): LinkHandlers {
  return { [name]: async (params, call) => handle(parseBySchema(schema, params), call) };
}
