import { createCheckResults } from '../core/checks/check-results.ts';
import { type Checks, createChecks } from '../core/checks/checks.ts';
import type { SearchBox } from '../core/content/search-box.ts';
import type { Emit } from '../core/events.ts';
import { createProjects } from '../core/projects/projects.ts';
import * as coverage from '../coverage/index.ts';
import * as detectors from '../detectors/index.ts';
import { createJsonFile, createMemoryShelf } from '../lib/json-file.ts';
import { sha256 } from '../lib/sha256.ts';
import * as linters from '../linters/index.ts';
import * as runners from '../runners/index.ts';
import type { FurnishedPlace } from './runtime-means.ts';
import type { Searches } from './searches.ts';

export interface FurnishMeans {
  readonly searches: Searches;
  /** Where results of checks are kept; left out, they go with the program. */
  readonly data: string | undefined;
  readonly emit: Emit;
}

/** What a workspace is besides its files and its sandbox. */
export function furnish(place: FurnishedPlace, means: FurnishMeans) {
  const { root: workspacePath, mustBeThere } = place;
  return {
    async withSearchBox<T>(work: (box: SearchBox) => Promise<T>): Promise<T> {
      const directory = await place.directory();
      return means.searches.openIn({ directory, workspacePath }, mustBeThere)(work);
    },
    checks: toChecks(place, means),
  };
}

/** By the directory itself: two workspaces may be shown under one name. */
function toChecks(
  { name, key, files }: Pick<FurnishedPlace, 'name' | 'key' | 'files'>,
  { data, emit }: Pick<FurnishMeans, 'data' | 'emit'>,
): Checks {
  const known = Object.values(detectors);
  const place = sha256(Buffer.from(key)).slice(0, 32);
  const shelf = data === undefined ? createMemoryShelf() : createJsonFile(`${data}/results/${place}.json`);
  const projects = createProjects({
    files,
    detectors: known,
    onChange: (profiles) => emit('lifecycle.workspace.profile', () => ({ workspace: name, profiles })),
  });
  const results = createCheckResults(shelf);
  return createChecks({
    projects,
    detectors: known,
    runners: Object.values(runners),
    linters: Object.values(linters),
    coverage: Object.values(coverage),
    results,
  });
}
