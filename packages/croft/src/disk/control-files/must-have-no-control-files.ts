import { closeSync, opendirSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { type Allowance, mergeAllowances } from '../../core/control-files/allowance.ts';
import { canonicalName } from '../../core/control-files/canonical-name.ts';
import { type ControlFile, isAllowed, refuseControlFile } from '../../core/control-files/control-file.ts';
import { toObeyedName } from '../../core/control-files/control-file-names.ts';
import { isObeyedAt } from '../../core/control-files/find-control-path.ts';
import type { FileKind } from '../../core/files/files.ts';
import { kindOf, openDirectory } from '../paths/handles.ts';
import type { GuardedRoot } from './control-file-guard.ts';
import { looksLikeGit } from './is-git-directory.ts';

/** Each level holds an open handle. */
const maxDepth = 1000;

interface TreeOptions {
  readonly allow?: Allowance | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A name in an open directory, and its path from the root. */
interface EntryInDirectory {
  readonly parent: number;
  readonly name: string | Buffer;
  readonly path: string;
}

/**
 * Throws `E_CONTROL_FILE` for a directory that contains a control file or a git directory, before anything in it is
 * touched.
 */
export async function treeMustHaveNoControlFile(
  root: GuardedRoot,
  entry: EntryInDirectory,
  options: TreeOptions = {},
): Promise<void> {
  const allowance = mergeAllowances({ names: root.allowControl }, options.allow);
  await check(entry, 0);

  async function check({ parent, name, path }: EntryInDirectory, depth: number): Promise<void> {
    if (depth > maxDepth)
      throw new AppError('E_TOO_LARGE', `the tree is more than ${maxDepth} directories deep`, {
        hint: 'Nothing was changed. Use a command: mv or rm -r.',
      });
    const kinds = new Map<string, FileKind>();
    const directoryFd = openDirectory(parent, name);
    try {
      for await (const child of opendirSync(`/proc/self/fd/${directoryFd}`, { encoding: 'buffer' as BufferEncoding })) {
        options.signal?.throwIfAborted();
        const [bytes, text] = [Buffer.from(child.name), Buffer.from(child.name).toString()];
        const below = `${path}/${text}`;
        kinds.set(canonicalName(text), kindOf(child));
        refuse(toControl(below, canonicalName(text)));
        if (child.isDirectory()) await check({ parent: directoryFd, name: bytes, path: below }, depth + 1);
      }
    } finally {
      closeSync(directoryFd);
    }
    if (looksLikeGit((mark) => kinds.get(mark))) refuse({ control: path, reason: 'git-directory' });
  }

  function refuse(found: ControlFile | undefined): void {
    if (found && !isAllowed(found, found.control, allowance)) throw refuseControlFile(entry.path, found);
  }
}

function toControl(path: string, name: string): ControlFile | undefined {
  if (name === '.git') return { control: path, reason: 'git-directory' };
  const obeyed = toObeyedName(name);
  if (obeyed === undefined) return undefined;
  const names = path.split('/').with(-1, name);
  return isObeyedAt(names, names.length - 1) ? { control: path, reason: 'obeyed', name: obeyed } : undefined;
}
