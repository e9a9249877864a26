import { type IgnoreRules, parseIgnoreRules, rulingOn } from '../../core/content/gitignore.ts';
import type { Files } from '../../core/files.ts';
import { toRaw } from '../../core/history/raw-names.ts';

/** What a listing found of files that say what is ignored, by path. */
export interface IgnoreSources {
  /** Directories with a `.git` in them. */
  readonly repositories: ReadonlySet<string>;
  /** Files of rules. */
  readonly rules: ReadonlySet<string>;
}

export interface IgnoringOptions extends IgnoreSources {
  readonly files: Files;
  /** Where the search begins. What is above it has a say, but is not ignored itself. */
  readonly scope: string;
}

/** As ripgrep has them: what the first kind of file says counts, wherever that file is. */
const kinds = ['.rgignore', '.ignore', '.gitignore', '.git/info/exclude'] as const;
type Kind = (typeof kinds)[number];
type Level = Readonly<Partial<Record<Kind, IgnoreRules | undefined>>>;

export const ruleFiles: ReadonlySet<string> = new Set(kinds);
const maxRuleBytes = 1024 * 1024;

/** Which paths of a workspace ripgrep would leave out. Rules are read when the first path asks that they are about. */
export function createIgnoring({ files, scope, repositories, rules }: IgnoringOptions) {
  const levels = new Map<string, Promise<Level | 'ignored'>>();

  async function isIgnored(path: string): Promise<boolean> {
    const level = await levelOf(parentOf(path));
    return level === 'ignored' || isRuledOut(level, path, false);
  }

  function levelOf(directory: string): Promise<Level | 'ignored'> {
    const known = levels.get(directory) ?? readLevel(directory);
    levels.set(directory, known);
    return known;
  }

  async function readLevel(directory: string): Promise<Level | 'ignored'> {
    const above = directory === '' ? {} : await levelOf(parentOf(directory));
    const isSearched = scope === '' ? directory !== '' : directory.startsWith(`${scope}/`);
    if (above === 'ignored' || (isSearched && isRuledOut(above, directory, true))) return 'ignored';
    const isListed = isSearched || directory === scope;
    const isRepository = isListed ? repositories.has(directory) : await isThere(join(directory, '.git'));
    const pairs = kinds.map(async (kind) => {
      const isOfGit = kind.startsWith('.git');
      // A repository inside another has nothing to do with its rules.
      const further = isOfGit && isRepository ? undefined : above[kind];
      const path = join(directory, kind);
      const mayBe = kind === '.git/info/exclude' ? isRepository : !isListed || rules.has(path);
      return [kind, mayBe ? await readRules(path, directory, further) : further] as const;
    });
    return Object.fromEntries(await Promise.all(pairs));
  }

  async function readRules(path: string, directory: string, above: IgnoreRules | undefined) {
    const found = await files.read(path, { maxBytes: maxRuleBytes }).catch(() => undefined);
    if (!found) return above;
    return { rules: parseIgnoreRules(found.bytes.toString('latin1')), base: toRaw(directory), above };
  }

  async function isThere(path: string): Promise<boolean> {
    return files.stat(path).then(
      () => true,
      () => false,
    );
  }

  return { isIgnored };
}

function isRuledOut(level: Level, path: string, isDirectory: boolean): boolean {
  const raw = toRaw(path);
  for (const kind of kinds) {
    const ruling = rulingOn(level[kind], raw, isDirectory);
    if (ruling !== undefined) return ruling === 'ignored';
  }
  return false;
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
