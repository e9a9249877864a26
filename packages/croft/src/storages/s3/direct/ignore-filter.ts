import {
  type IgnoreRules,
  ignoreDecision,
  maxRuleBytes,
  nestRules,
  parseIgnoreRules,
} from '../../../core/content/ignore/gitignore.ts';
import type { Files } from '../../../core/files/files.ts';
import { parentPath, pathBelow } from '../../../core/files/workspace-path.ts';
import { toRaw } from '../../../core/history/trees/raw-names.ts';

/** The files with ignore rules that a listing found, by path. */
export interface IgnoreSources {
  /** Directories with a `.git` in them. */
  readonly repositories: ReadonlySet<string>;
  /** `.gitignore` and similar files. */
  readonly rules: ReadonlySet<string>;
}

interface IgnoreFilterOptions extends IgnoreSources {
  readonly files: Files;
  /**
   * The directory in which the search begins. Rules above it apply, but directories above it are not ignored
   * themselves.
   */
  readonly scope: string;
}

/** In ripgrep's order of precedence: a rule in a file of an earlier kind wins, wherever that file is. */
const kinds = ['.rgignore', '.ignore', '.gitignore', '.git/info/exclude'] as const;
type Kind = (typeof kinds)[number];
type DirectoryRules = Readonly<Partial<Record<Kind, IgnoreRules | undefined>>>;

export const ruleFiles: ReadonlySet<string> = new Set(kinds);

/** Decides which paths ripgrep would leave out. A rule file is read when the first path below it is checked. */
export function createIgnoreFilter({ files, scope, repositories, rules }: IgnoreFilterOptions) {
  const levels = new Map<string, Promise<DirectoryRules | 'ignored'>>();

  async function isIgnored(path: string): Promise<boolean> {
    const level = await levelOf(parentPath(path));
    return level === 'ignored' || isRuledOut(level, path, false);
  }

  function levelOf(directory: string): Promise<DirectoryRules | 'ignored'> {
    const known = levels.get(directory) ?? readLevel(directory);
    levels.set(directory, known);
    return known;
  }

  async function readLevel(directory: string): Promise<DirectoryRules | 'ignored'> {
    const above = directory === '' ? {} : await levelOf(parentPath(directory));
    const isSearched = scope === '' ? directory !== '' : directory.startsWith(`${scope}/`);
    if (above === 'ignored' || (isSearched && isRuledOut(above, directory, true))) return 'ignored';
    const isListed = isSearched || directory === scope;
    const isRepository = isListed ? repositories.has(directory) : await isThere(pathBelow(directory, '.git'));
    const pairs = kinds.map(async (kind) => {
      const isOfGit = kind.startsWith('.git');
      // The rules of an outer repository do not apply inside a nested repository.
      const further = isOfGit && isRepository ? undefined : above[kind];
      const path = pathBelow(directory, kind);
      const mayBe = kind === '.git/info/exclude' ? isRepository : !isListed || rules.has(path);
      return [kind, mayBe ? await readRules(path, directory, further) : further] as const;
    });
    return Object.fromEntries(await Promise.all(pairs));
  }

  async function readRules(path: string, directory: string, above: IgnoreRules | undefined) {
    const found = await files.read(path, { maxBytes: maxRuleBytes }).catch(() => undefined);
    if (!found) return above;
    return nestRules(parseIgnoreRules(found.bytes.toString('latin1')), toRaw(directory), above);
  }

  async function isThere(path: string): Promise<boolean> {
    return files.stat(path).then(
      () => true,
      () => false,
    );
  }

  return { isIgnored };
}

function isRuledOut(level: DirectoryRules, path: string, isDirectory: boolean): boolean {
  const raw = toRaw(path);
  for (const kind of kinds) {
    const ruling = ignoreDecision(level[kind], raw, isDirectory);
    if (ruling !== undefined) return ruling === 'ignored';
  }
  return false;
}
