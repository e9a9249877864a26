import { isIgnored } from '../../core/content/ignore/gitignore.ts';
import type { TreeScope } from '../../core/history/ports/tree.ts';
import { pathOf, type TreeNode } from './tree-nodes.ts';

/**
 * Whether a tree of this scope includes the node, given that it includes the parent. The ignore rules must be known.
 */
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

/** Whether a tree of this scope includes the node and all its parents. */
export function isInScope(node: TreeNode, scope: TreeScope): boolean {
  for (let each: TreeNode | undefined = node; each?.parent; each = each.parent)
    if (!isIncluded(each, scope)) return false;
  return true;
}
