import { basename } from 'node:path';
import { goQuote } from '../../lib/text/go-quote.ts';
import { allWorkspaces } from './workspace-set.ts';

interface WorkspaceEntry {
  readonly name: string;
  /** As written. A relative path starts from the current directory. */
  readonly path: string;
}

/**
 * Parses `--workspaces`: entries `name=path` or `path`, separated by commas. Ignores empty entries, and spaces around
 * names and paths. An entry without a name gets the last name of its path. Throws an `Error` whose message is for the
 * operator.
 */
export function parseWorkspaceSpec(spec: string): WorkspaceEntry[] {
  const entries = spec
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(toEntry);
  if (entries.length === 0) throw new Error(`workspaces: no entries parsed from ${goQuote(spec)}`);
  entries.forEach(checkName);
  return entries;
}

function toEntry(entry: string): WorkspaceEntry {
  const cut = entry.indexOf('=');
  const path = entry.slice(cut + 1).trim();
  const name = cut === -1 ? '' : entry.slice(0, cut).trim();
  if (path === '') throw new Error(`workspaces: empty path in entry ${goQuote(entry)}`);
  return { name: name === '' ? basename(path).trim() : name, path };
}

function checkName({ name, path }: WorkspaceEntry, index: number, entries: readonly WorkspaceEntry[]): void {
  if (name === '' || name === '.' || name === '..' || name === '/') {
    throw new Error(
      `workspace[${index}]: cannot derive a non-empty name from root ${goQuote(path)}; pass an explicit name`,
    );
  }
  if (entries.findIndex((entry) => entry.name === name) !== index) {
    throw new Error(`workspace[${index}]: duplicate name ${goQuote(name)}`);
  }
  if (name === allWorkspaces && entries.length > 1) {
    throw new Error(`workspace[${index}]: the name ${goQuote(name)} means every workspace; pass another name`);
  }
}
