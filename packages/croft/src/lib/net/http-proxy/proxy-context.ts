import type { ByteMeter } from './byte-meter.ts';
import type { ConnectToTargetOptions } from './connect-to-target.ts';
import { type Refusal, toPolicyRefusal } from './proxy-refusal.ts';
import type { Target } from './proxy-target.ts';

/** Shared by all parts of one proxy. */
export interface ProxyContext extends ConnectToTargetOptions {
  readonly meter: ByteMeter;
  /** Called once for every refusal, before the refusal is sent. */
  onRefused(refusal: Refusal): void;
}

/** Reports a refusal if a connection broke off because the byte limit was reached. */
export function reportWhenSpent(target: Target, context: ProxyContext): void {
  const refusal = refuseWhenSpent(target, context);
  if (refusal) context.onRefused(refusal);
}

/** Refuses a new connection if the byte limit is used up. */
export function refuseWhenSpent(target: Target, { meter, limits }: ProxyContext): Refusal | undefined {
  if (!meter.isSpent()) return undefined;
  const reason = `This sandbox has used all of its ${limits.maxTotalBytes} bytes of network traffic.`;
  return toPolicyRefusal({ ...target, rule: 'bytes', reason });
}
