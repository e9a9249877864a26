import type { Meter } from './meter.ts';
import type { ReachOptions } from './reach.ts';
import { deny, type Refusal } from './refusal.ts';
import type { Target } from './target.ts';

/** What the parts of one proxy share. */
export interface ProxyContext extends ReachOptions {
  readonly meter: Meter;
  /** Told of every refusal, once, before it is answered. */
  onRefused(refusal: Refusal): void;
}

/** For a connection that broke off: the reason may be that the bytes ran out under way. */
export function tellWhenSpent(target: Target, context: ProxyContext): void {
  const refusal = refuseWhenSpent(target, context);
  if (refusal) context.onRefused(refusal);
}

/** Nothing new begins when all the bytes there were are used. */
export function refuseWhenSpent(target: Target, { meter, limits }: ProxyContext): Refusal | undefined {
  if (!meter.isSpent()) return undefined;
  const reason = `This sandbox has used all of its ${limits.maxTotalBytes} bytes of network traffic.`;
  return deny({ ...target, rule: 'bytes', reason });
}
