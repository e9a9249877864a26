import { toUri } from '../core/code/ports/file-uris.ts';
import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';
import type { Files } from '../core/files/files.ts';

interface ProjectRootsOptions {
  readonly definition: LanguageServerDefinition;
  /** The path of the workspace as the server sees it. */
  readonly root: string;
  readonly files: Pick<Files, 'modifiedTimes'>;
  /** Called before the server is told of another project, which it then reads. */
  onAdd(): void;
  notify(method: string, params: unknown): void;
}

const maxRoots = 32;
/** Servers find projects in the workspace and in the directories directly below it. */
const foundDepth = 1;
const maxDepth = 64;

/** Tells a server of projects that it does not find by itself, when a file of theirs is asked about. */
export function createProjectRoots({ definition, root, files, onAdd, notify }: ProjectRootsOptions) {
  const { projectFile } = definition;
  const known = new Set<string>();

  /** The outermost project around a file: one inside of it is a part of it. */
  async function findRoot(path: string, name: string): Promise<string | undefined> {
    const names = path.split('/').slice(0, -1).slice(0, maxDepth);
    const directories = ['', ...names.map((_, index) => names.slice(0, index + 1).join('/'))];
    const times = await files.modifiedTimes(directories.map((directory) => `${directory}/${name}`.replace(/^\//, '')));
    const found = times.findIndex((time) => time > 0);
    return found > foundDepth ? directories[found] : undefined;
  }

  return {
    async add(path: string): Promise<void> {
      const found = projectFile === undefined ? undefined : await findRoot(path, projectFile);
      if (found === undefined || known.has(found) || known.size >= maxRoots) return;
      known.add(found);
      onAdd();
      const added = [{ uri: toUri(root, found), name: found }];
      notify('workspace/didChangeWorkspaceFolders', { event: { added, removed: [] } });
    },
  };
}
