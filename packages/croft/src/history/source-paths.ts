import { isIgnored } from '../core/content/gitignore.ts';
import type { RawName } from '../core/history/raw-names.ts';
import { isReached } from './scopes.ts';
import type { TreeIndex } from './tree-index.ts';

/** Whether a file there is a part of the source, by the rules as they were last read. `undefined`: they do not tell. */
export function isOfSource({ directories }: TreeIndex, path: RawName): boolean | undefined {
  const at = path.lastIndexOf('/');
  const [parent, name] = [directories.get(path.slice(0, Math.max(at, 0))), path.slice(at + 1)];
  if (!parent || parent.isCut || name === '.gitignore') return undefined;
  if (name === '.git' || !isReached(parent, 'source')) return false;
  // The rules of one that was never listed are not known.
  if (!parent.rules) return undefined;
  const rules = parent.rules.all;
  return rules === undefined || !isIgnored(rules, path, false);
}
