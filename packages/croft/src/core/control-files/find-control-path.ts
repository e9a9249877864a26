import { canonicalNames } from './canonical-name.ts';
import { gitBulk, gitSettings, toObeyedName } from './control-file-names.ts';

/**
 * Returns the part of a workspace-relative path that has the name of a control file: `.git/hooks` for
 * `.git/hooks/pre-push`. Checks names only, for callers without access to the disk. A git directory itself counts,
 * because moving it would move its settings.
 */
export function findControlPath(path: string): string | undefined {
  const names = canonicalNames(path);
  const at = names.findIndex((name, index) => name === '.git' || isObeyedAt(names, index));
  if (at < 0) return undefined;
  const length = names[at] === '.git' ? settingLength(names, at + 1) : at + 1;
  return length === undefined ? undefined : names.slice(0, length).join('/');
}

/**
 * Whether the name at `index` is a control file there. Settings inside `node_modules` come from package authors, and no
 * program obeys them.
 */
export function isObeyedAt(names: readonly string[], index: number): boolean {
  const fetched = names.indexOf('node_modules');
  return toObeyedName(names[index] ?? '') !== undefined && !(fetched >= 0 && index > fetched);
}

/** Returns how many names lead to the setting inside a git directory whose own names begin at `from`. */
export function settingLength(names: readonly string[], from: number): number | undefined {
  if (from === names.length) return from;
  for (let at = from; at < names.length; at++) {
    const name = names[at] ?? '';
    if (gitSettings.has(name)) return at + 1;
    if (name === 'info' && names[at + 1] === 'attributes') return at + 2;
    if (gitBulk.has(name)) return undefined;
  }
  return undefined;
}
