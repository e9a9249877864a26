import { parseIgnoreRules } from '../core/content/gitignore.ts';
import type { LeafReader } from './leaf-reader.ts';
import type { DirectoryNode } from './tree-nodes.ts';

/** Longer ones are nobody's: each rule is tried on each file. */
const maxRulesBytes = 256 * 1024;

/** Makes the rules of a directory current. Where they change, everything below is judged again. */
export async function applyRules(reader: LeafReader, node: DirectoryNode): Promise<void> {
  const file = node.children.get('.gitignore');
  const leaf = file?.kind === 'file' && file.identity.size <= maxRulesBytes ? file : undefined;
  const above = node.parent?.rules?.all;
  const bytes = leaf && (await reader.readRules(leaf, node.rules?.hash));
  const isSame = leaf !== undefined && node.rules?.hash !== undefined && leaf.entry?.hash === node.rules.hash;
  const own = bytes ? parseIgnoreRules(bytes.toString('latin1')) : isSame ? node.rules?.own : undefined;
  if (node.rules && node.rules.own === own && node.rules.above === above) return;
  const all = own ? { rules: own, base: node.path, above } : above;
  node.rules = { own, above, all, hash: own && leaf?.entry?.hash };
  forgetBelow(node);
}

function forgetBelow(node: DirectoryNode): void {
  for (const child of node.children.values()) {
    if (child.kind !== 'directory') continue;
    child.listings.delete('source');
    forgetBelow(child);
  }
}
