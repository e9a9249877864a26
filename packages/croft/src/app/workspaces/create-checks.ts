import { type CheckRegistry, createCheckRegistry } from '../../core/checks/check-registry.ts';
import { createCheckResults } from '../../core/checks/check-results.ts';
import type { Emit } from '../../core/events/emitter.ts';
import type { Files } from '../../core/files/files.ts';
import { createProjectFinder } from '../../core/projects/find-projects.ts';
import * as coverage from '../../coverage/index.ts';
import * as detectors from '../../detectors/index.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { createJsonFile, createMemoryJson } from '../../lib/files/json-file.ts';
import * as linters from '../../linters/index.ts';
import * as runners from '../../test-runners/index.ts';

interface CheckedWorkspace {
  readonly name: string;
  /** Results are stored under it and not under the name, because two workspaces may have the same name. */
  readonly key: string;
  readonly files: Files;
}

export interface CheckOptions {
  /** The data directory, which stores results of checks. Without it, they are lost when the program ends. */
  readonly data: string | undefined;
  readonly emit: Emit;
}

/** Creates the checks of a workspace: its projects, and the results of their tests and linters. */
export function createChecks({ name, key, files }: CheckedWorkspace, { data, emit }: CheckOptions): CheckRegistry {
  const known = Object.values(detectors);
  const keyHash = sha256(Buffer.from(key)).slice(0, 32);
  const stored = data === undefined ? createMemoryJson() : createJsonFile(`${data}/results/${keyHash}.json`);
  const projects = createProjectFinder({
    files,
    detectors: known,
    onChange: (profiles) => emit('lifecycle.workspace.profile', () => ({ workspace: name, profiles })),
  });
  return createCheckRegistry({
    projects,
    detectors: known,
    testRunners: Object.values(runners),
    linters: Object.values(linters),
    coverage: Object.values(coverage),
    results: createCheckResults(stored),
  });
}
