import { AppError } from '@croft/protocol';
import type { Files } from '../../files/files.ts';
import { temporaryPrefix } from '../../files/temporary-prefix.ts';
import { pathBelow } from '../../files/workspace-path.ts';
import { type IgnoreRules, isIgnored, maxRuleBytes, nestRules, parseIgnoreRules } from '../ignore/gitignore.ts';

/** A name that is literal in every kind of pattern. */
export const plainName = /^(?!\.\.?$)[\w.@+-]+$/;

/** Files with further rules that ripgrep obeys. */
const otherRuleFiles = ['.ignore', '.rgignore', '.git/info/exclude'];

/**
 * Returns the directory that a pattern begins with, if all files that can match are below it and a search that starts
 * there finds the same files as one from the root. Ripgrep does not apply rules to its starting point itself, so none of
 * the directories on the way may be ignored; and of the rules above its starting point it applies only those for names
 * correctly, so no rule for a path may lead there. Returns `undefined` if that is not certain: then the search starts
 * at the root.
 */
export async function findLiteralDirectory(files: Files, pattern: string): Promise<string | undefined> {
  const names = plainNamesOf(pattern);
  let [path, rules] = ['', undefined as IgnoreRules | undefined];
  try {
    for (const name of names) {
      rules = await addRules(files, { directory: path, next: name }, rules);
      path = pathBelow(path, name);
      if (name === '.git' || name.startsWith(temporaryPrefix) || isIgnored(rules, path, true)) return undefined;
    }
    return path !== '' && (await isItself(files, path)) ? path : undefined;
  } catch {
    // Something on the way cannot be read, or it is not certain what ripgrep makes of the rules there.
    return undefined;
  }
}

function plainNamesOf(pattern: string): string[] {
  const names = pattern.split('/').slice(0, -1);
  const end = names.findIndex((name) => !plainName.test(name));
  return end < 0 ? names : names.slice(0, end);
}

/** A directory on the way, and the name in it that comes next. */
interface Step {
  readonly directory: string;
  readonly next: string;
}

async function addRules(files: Files, { directory, next }: Step, above: IgnoreRules | undefined) {
  for (const name of otherRuleFiles) {
    if (linesOf((await readText(files, pathBelow(directory, name))) ?? '').length > 0) throw notCertain();
  }
  const text = await readText(files, pathBelow(directory, '.gitignore'));
  if (text === undefined) return above;
  const rules = nestRules(parseIgnoreRules(text), directory, above);
  if (rules.isCut || linesOf(text).some((line) => mayLeadTo(line, next))) throw notCertain();
  return rules;
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** Whether a rule has a path, instead of a name at any depth, and that path may begin with this name. */
function mayLeadTo(line: string, name: string): boolean {
  const path = line.trim().replace(/^!/, '').replace(/\/$/, '');
  if (!path.includes('/')) return false;
  const [first = ''] = path.replace(/^\//, '').split('/');
  return first === name || !plainName.test(first);
}

function notCertain(): Error {
  return new Error('ripgrep may have other rules here than we know');
}

/** Each byte as one character, which is the form that rules have. */
async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    return Buffer.from((await files.read(path, { maxBytes: maxRuleBytes })).bytes).toString('latin1');
  } catch (thrown) {
    if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** Whether a directory is there and no link leads to it: a search from the root follows none. */
async function isItself(files: Files, path: string): Promise<boolean> {
  const found = await files.stat(path);
  return found.kind === 'directory' && found.path === path;
}
