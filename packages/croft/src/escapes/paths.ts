import type { Escape, EscapeFixtureOptions } from './escape.ts';
import { pathsClimb } from './paths-climb.ts';
import { pathsControl } from './paths-control.ts';
import { pathsLinks } from './paths-links.ts';
import { pathsNames } from './paths-names.ts';
import { pathsRace } from './paths-race.ts';
import { pathsRestore } from './paths-restore.ts';
import { pathsShared } from './paths-shared.ts';
import { pathsSpecial } from './paths-special.ts';

/** A: files outside the workspace, reached by the file tools and by commands. */
export const paths: readonly Escape[] = [
  ...pathsClimb,
  ...pathsLinks,
  ...pathsRace,
  ...pathsSpecial,
  ...pathsShared,
  ...pathsControl,
  ...pathsNames,
  ...pathsRestore,
]
  .map((one) => onOwnFixture(one))
  .sort((one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }));

/** Gives an escape a fixture of its own, because it leaves something behind or needs other options. */
function onOwnFixture(one: Escape, options: EscapeFixtureOptions = {}): Escape {
  return { ...one, attempt: async (fixture) => one.attempt(await fixture.open(options)) };
}
