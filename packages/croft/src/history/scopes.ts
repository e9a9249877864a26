import { isIgnored } from '../core/content/gitignore.ts';
import type { TreeScope } from '../core/history/tree.ts';
import { pathOf, type TreeNode } from './tree-nodes.ts';

/** Whether a tree of this scope takes it in, where it takes in the directory it is in. Its rules must be known. */
export function isIncluded(node: TreeNode, scope: TreeScope): boolean {
  if (scope === 'all') return true;
  if (node.name === '.git') return false;
  return scope === 'with-ignored' || !isIgnoredNode(node);
}

function isIgnoredNode(node: TreeNode): boolean {
  const rules = node.parent?.rules?.all;
  if (node.ignored && node.ignored.rules === rules) return node.ignored.is;
  const is = rules !== undefined && isIgnored(rules, pathOf(node), node.kind === 'directory');
  node.ignored = { rules, is };
  return is;
}

/** The same from the root down. */
export function isReached(node: TreeNode, scope: TreeScope): boolean {
  for (let each: TreeNode | undefined = node; each?.parent; each = each.parent)
    if (!isIncluded(each, scope)) return false;
  return true;
}
