import type { Escape, EscapeFixtureOptions } from './escape.ts';
import { pathsByText } from './paths-by-text.ts';
import { pathsDuringRestore } from './paths-during-restore.ts';
import { pathsInSharedTemporary } from './paths-in-shared-temporary.ts';
import { pathsLinks } from './paths-links.ts';
import { pathsRace } from './paths-race.ts';
import { pathsRespelled } from './paths-respelled.ts';
import { pathsSpecialFiles } from './paths-special-files.ts';
import { pathsToControlFiles } from './paths-to-control-files.ts';

/** Group A (A1, A1b, …): attempts to reach files outside the workspace, by the file tools and by commands. */
export const paths: readonly Escape[] = [
  ...pathsByText,
  ...pathsLinks,
  ...pathsRace,
  ...pathsSpecialFiles,
  ...pathsInSharedTemporary,
  ...pathsToControlFiles,
  ...pathsRespelled,
  ...pathsDuringRestore,
]
  .map((one) => onOwnFixture(one))
  .sort((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));

/** Gives an escape a fixture of its own, because it leaves something behind or needs other options. */
function onOwnFixture(one: Escape, options: EscapeFixtureOptions = {}): Escape {
  return { ...one, attempt: async (fixture) => one.attempt(await fixture.open(options)) };
}
