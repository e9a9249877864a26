import type { CalledTool, EscapeFixture, EscapeFixtureOptions, ScriptResult } from './escape.ts';
import { type OpenedFixture, type OpenFixtureOptions, openFixture } from './escape-fixture.ts';

export interface WatchFixtureOptions {
  /** Default options of fixtures that the escape opens. */
  readonly made: Pick<OpenFixtureOptions, 'provider' | 'owner' | 'openApp'>;
  /** Aborts the calls of the escape. */
  readonly signal: AbortSignal;
}

/**
 * Wraps the shared fixture for one escape: searches every answer for canaries, and closes the fixtures that the escape
 * opened.
 */
export function watchFixture(shared: OpenedFixture, { made, signal: stop }: WatchFixtureOptions) {
  const ended = new AbortController();
  const signal = AbortSignal.any([stop, ended.signal]);
  const fixtures = [shared];
  const leaks: string[] = [];

  return {
    fixture: toFixture(shared),
    /** Describes how a canary was revealed or changed. */
    async findLeaks(): Promise<string[]> {
      const changes = await Promise.all(fixtures.map((fixture) => fixture.findChanges()));
      return [...new Set([...leaks, ...changes.flat()])];
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await Promise.all(fixtures.slice(1).map((fixture) => fixture.close()));
    },
  };

  function toFixture(opened: OpenedFixture): EscapeFixture {
    const { workspace, inside, outside, canary, prober, reopen } = opened;
    const call = async (tool: string, input: Record<string, unknown>) => {
      const called = await opened.call(tool, input, signal);
      // The escape has ended, so no caller waits for this answer.
      if (signal.aborted) return new Promise<never>(() => {});
      if (revealsCanary(called)) leaks.push(`${tool} told what is in the canary`);
      return called;
    };
    return {
      ...{ workspace, inside, outside, canary, prober, reopen, call },
      run: async (script, { timeoutSeconds = 50, secrets = [] } = {}) =>
        toRan(await call('bash', { command: script, timeout: timeoutSeconds, secrets })),
      async open(options: EscapeFixtureOptions) {
        const another = await openFixture({ ...made, ...options });
        fixtures.push(another);
        return toFixture(another);
      },
    };
  }

  function revealsCanary({ text, structured }: CalledTool): boolean {
    const answered = text + JSON.stringify(structured);
    return fixtures.some(({ canary }) => answered.includes(canary));
  }
}

function toRan({ isError, text, structured }: CalledTool): ScriptResult {
  if (isError) throw new Error(`bash: ${text}`);
  return structured as unknown as ScriptResult;
}
