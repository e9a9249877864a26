import type { Called, Ground, GroundOptions, Ran } from './escape.ts';
import { type OpenedGround, type OpenGroundOptions, openGround } from './ground.ts';

export interface WatchOptions {
  /** How grounds are made, where the case does not say. */
  readonly made: Pick<OpenGroundOptions, 'provider' | 'owner' | 'openApp'>;
  /** Ends what the case has under way. */
  readonly signal: AbortSignal;
}

/** A ground for one case: every answer is looked through for canaries, and what the case opened is closed after it. */
export function watch(shared: OpenedGround, { made, signal: stop }: WatchOptions) {
  const ended = new AbortController();
  const signal = AbortSignal.any([stop, ended.signal]);
  const grounds = [shared];
  const leaks: string[] = [];

  return {
    ground: toGround(shared),
    /** How a canary came to be known or touched. */
    async findLeaks(): Promise<string[]> {
      const changes = await Promise.all(grounds.map((ground) => ground.findChanges()));
      return [...new Set([...leaks, ...changes.flat()])];
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.all(grounds.slice(1).map((ground) => ground.close()));
    },
  };

  function toGround(opened: OpenedGround): Ground {
    const { workspace, inside, outside, canary, prober, reopen } = opened;
    const call = async (tool: string, input: Record<string, unknown>) => {
      const called = await opened.call(tool, input, signal);
      // The case is over: this goes to nobody.
      if (signal.aborted) return new Promise<never>(() => {});
      if (tellsCanary(called)) leaks.push(`${tool} told what is in the canary`);
      return called;
    };
    return {
      ...{ workspace, inside, outside, canary, prober, reopen, call },
      run: async (script, { timeoutSeconds = 50, secrets = [] } = {}) =>
        toRan(await call('bash', { command: script, timeout: timeoutSeconds, secrets })),
      async open(options: GroundOptions) {
        const another = await openGround({ ...made, ...options });
        grounds.push(another);
        return toGround(another);
      },
    };
  }

  function tellsCanary({ text, structured }: Called): boolean {
    const told = text + JSON.stringify(structured);
    return grounds.some(({ canary }) => told.includes(canary));
  }
}

function toRan({ isError, text, structured }: Called): Ran {
  if (isError) throw new Error(`bash: ${text}`);
  return structured as unknown as Ran;
}
