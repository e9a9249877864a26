import { maxRuleBytes, nestRules, parseIgnoreRules } from '../../core/content/ignore/gitignore.ts';
import type { DirectoryNode } from '../tree/tree-nodes.ts';
import type { LeafReader } from './leaf-reader.ts';

/** Updates the ignore rules of a directory. If they change, the listings of everything below it are forgotten. */
export async function updateIgnoreRules(reader: LeafReader, node: DirectoryNode): Promise<void> {
  const file = node.children.get('.gitignore');
  const leaf = file?.kind === 'file' && file.identity.size <= maxRuleBytes ? file : undefined;
  const above = node.parent?.rules?.all;
  const bytes = leaf && (await reader.readRules(leaf, node.rules?.hash));
  const isSame = leaf !== undefined && node.rules?.hash !== undefined && leaf.entry?.hash === node.rules.hash;
  const own = bytes ? parseIgnoreRules(bytes.toString('latin1')) : isSame ? node.rules?.own : undefined;
  if (node.rules && node.rules.own === own && node.rules.above === above) return;
  const all = own ? nestRules(own, node.path, above) : above;
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
