import type { AnyCommand, Command, Completion, Option } from '../command.ts';

/** Candidates for the next word: fixed words, names to look up, or paths of this machine. */
export type CompletionCandidates =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'names'; readonly of: Exclude<Completion, readonly string[] | 'file'>; readonly before: Given }
  | { readonly kind: 'files' };

/** The words and flags before the one that is completed. */
export interface Given {
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
}

const nothing: CompletionCandidates = { kind: 'words', words: [] };

/** Finds what could follow `before`, the words after the name of the command, where `current` is begun. */
export function completeWords(loaded: AnyCommand, before: readonly string[], current: string): CompletionCandidates {
  if (!('verbs' in loaded)) return completeCommand(loaded, before, current);
  const [verb, ...rest] = before;
  if (verb === undefined && !current.startsWith('-')) return { kind: 'words', words: Object.keys(loaded.verbs) };
  if (verb !== undefined && Object.hasOwn(loaded.verbs, verb))
    return completeCommand(loaded.verbs[verb] as Command, rest, current);
  return loaded.verbs.list ? completeCommand(loaded.verbs.list, before, current) : nothing;
}

function completeCommand(command: Command, before: readonly string[], current: string): CompletionCandidates {
  if (before.includes('--')) return { kind: 'files' };
  const given = readGiven(command, before);
  if (given.open) return toCandidates(given.open.completes ?? guess(given.open), given);
  if (current.startsWith('-')) return { kind: 'words', words: ['--help', ...Object.keys(command.options).map(toFlag)] };
  const { words = [] } = command;
  const wanted = words[Math.min(given.words.length, words.length - 1)];
  return wanted === undefined ? nothing : toCandidates(wanted, given);
}

function toCandidates(wanted: Completion, before: Given): CompletionCandidates {
  if (wanted === 'file') return { kind: 'files' };
  return typeof wanted === 'string' ? { kind: 'names', of: wanted, before } : { kind: 'words', words: wanted };
}

/** A flag whose value is a path says so by its placeholder. */
function guess({ value }: Option): Completion {
  return value === 'FILE' || value === 'DIR' ? 'file' : [];
}

function toFlag(name: string): string {
  return `--${name}`;
}

/** Reads words and flags as far as completion needs them. `open` is the flag whose value comes next. */
function readGiven({ options }: Command, before: readonly string[]): Given & { readonly open: Option | undefined } {
  const [words, flags]: [string[], Record<string, string>] = [[], {}];
  let open: string | undefined;
  for (const word of before) {
    const [, flag, value] = /^--?([a-z][a-z-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (open !== undefined) [flags[open], open] = [word, undefined];
    else if (flag === undefined) words.push(word);
    else if (value !== undefined) flags[flag] = value;
    else if (options[flag]?.type === 'string') open = flag;
  }
  return { words, flags, open: open === undefined ? undefined : options[open] };
}
