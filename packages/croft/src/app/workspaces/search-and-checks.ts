import { type CheckRegistry, createCheckRegistry } from '../../core/checks/check-registry.ts';
import { createCheckResults } from '../../core/checks/check-results.ts';
import type { SearchBox } from '../../core/content/search/search-box.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { createProjectFinder } from '../../core/projects/find-projects.ts';
import * as coverage from '../../coverage/index.ts';
import * as detectors from '../../detectors/index.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { createJsonFile, createMemoryJson } from '../../lib/files/json-file.ts';
import * as linters from '../../linters/index.ts';
import * as runners from '../../test-runners/index.ts';
import type { CodeServers } from './code-servers.ts';
import type { SearchBoxPool } from './search-box-pool.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

interface SearchAndChecksOptions {
  readonly searches: SearchBoxPool;
  /** Absent: the workspace has no language servers. */
  readonly codeServers?: CodeServers | undefined;
  /** The data directory, which stores results of checks. Without it, they are lost when the program ends. */
  readonly data: string | undefined;
  readonly emit: Emit;
}

/** Returns the parts of a workspace besides its files and its sandbox: search box, checks and language servers. */
export function createSearchAndChecks(workspace: WorkspaceDirectory, options: SearchAndChecksOptions) {
  const { root: workspacePath, mustBeThere } = workspace;
  return {
    async withSearchBox<T>(work: (box: SearchBox) => Promise<T>): Promise<T> {
      const directory = await workspace.directoryFd();
      return options.searches.openIn({ directoryFd: directory, workspacePath }, mustBeThere)(work);
    },
    checks: toChecks(workspace, options),
    languageServers: options.codeServers?.of(workspace),
  };
}

/** Results are stored by the real directory, because two workspaces may have the same name. */
function toChecks(
  { name, key, files }: Pick<WorkspaceDirectory, 'name' | 'key' | 'files'>,
  { data, emit }: Pick<SearchAndChecksOptions, 'data' | 'emit'>,
): CheckRegistry {
  const known = Object.values(detectors);
  const directoryHash = sha256(Buffer.from(key)).slice(0, 32);
  const shelf = data === undefined ? createMemoryJson() : createJsonFile(`${data}/results/${directoryHash}.json`);
  const projects = createProjectFinder({
    files,
    detectors: known,
    onChange: (profiles) => emit('lifecycle.workspace.profile', () => ({ workspace: name, profiles })),
  });
  const results = createCheckResults(shelf);
  return createCheckRegistry({
    projects,
    detectors: known,
    testRunners: Object.values(runners),
    linters: Object.values(linters),
    coverage: Object.values(coverage),
    results,
  });
}
