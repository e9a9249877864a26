import { isIgnored } from '../../core/content/ignore/gitignore.ts';
import type { RawName } from '../../core/history/trees/raw-names.ts';
import { isInScope } from './is-in-scope.ts';
import type { TreeIndex } from './tree-index.ts';

/**
 * Whether a file at this path belongs to the source, by the ignore rules as last read. `undefined`: the rules do not
 * tell.
 */
export function isSourceFile({ directories }: TreeIndex, path: RawName): boolean | undefined {
  const at = path.lastIndexOf('/');
  const [parent, name] = [directories.get(path.slice(0, Math.max(at, 0))), path.slice(at + 1)];
  if (!parent || parent.isCut || name === '.gitignore') return undefined;
  if (name === '.git' || !isInScope(parent, 'source')) return false;
  // A directory that was never listed has no known rules.
  if (!parent.rules) return undefined;
  const rules = parent.rules.all;
  return rules === undefined || !isIgnored(rules, path, false);
}
