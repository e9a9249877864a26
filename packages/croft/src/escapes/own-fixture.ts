import type { Escape, EscapeFixtureOptions } from './escape.ts';

/** Gives an escape a fixture of its own, because it leaves something behind or needs other options. */
export function onOwnFixture(one: Escape, options: EscapeFixtureOptions = {}): Escape {
  return { ...one, attempt: async (fixture) => one.attempt(await fixture.open(options)) };
}
