import type { DirectoryEntry, Files } from '../files/files.ts';

/** More than any source tree has; hostile trees have no end. */
const maxDepth = 12;
const maxDirectories = 2000;
const maxEntries = 5000;

const notWritten = new Set([
  ...['node_modules', 'vendor', 'target', 'dist', 'build', 'out', 'coverage'],
  ...['venv', 'env', '__pycache__', 'site-packages'],
]);

interface TestFileSearch {
  readonly files: Files;
  /** Directory to search, from the workspace root. */
  readonly directory: string;
  /** Whether a path, from `directory`, is a test file. */
  isTestFile(path: string): boolean;
}

/** Lists test files from `directory`, sorted. Directories that cannot be read are skipped. */
export async function findTestFiles({ files, directory, isTestFile }: TestFileSearch): Promise<string[]> {
  const found: string[] = [];
  let level = [''];
  let seen = 0;
  for (let depth = 0; depth <= maxDepth && level.length > 0 && seen < maxDirectories; depth++) {
    const paths = level.slice(0, maxDirectories - seen);
    seen += paths.length;
    const listed = await Promise.all(paths.map((path) => list(files, join(directory, path))));
    level = [];
    for (const [index, entries] of listed.entries()) {
      const toPath = ({ name }: DirectoryEntry) => join(paths[index] ?? '', name);
      found.push(
        ...entries
          .filter(({ kind }) => kind === 'file')
          .map(toPath)
          .filter(isTestFile),
      );
      level.push(...entries.filter(isSource).map(toPath));
    }
  }
  return found.sort();
}

function isSource({ name, kind }: DirectoryEntry): boolean {
  return kind === 'directory' && !name.startsWith('.') && !notWritten.has(name);
}

async function list(files: Files, path: string): Promise<readonly DirectoryEntry[]> {
  try {
    return (await files.list(path, { limit: maxEntries })).entries;
  } catch {
    return [];
  }
}

function join(directory: string, name: string): string {
  return directory === '' || name === '' ? directory + name : `${directory}/${name}`;
}
