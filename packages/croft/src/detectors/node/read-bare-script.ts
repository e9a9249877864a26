import { findShellPatterns, toPlainCommands } from '../../lib/text/shell/plain-commands.ts';
import type { PackageManifest } from './package-manifest.ts';

/** A script that is a single program, split into its parts. */
interface BareScript {
  readonly tool: string;
  /** The first word, which must stay first: `check` of `biome check`. */
  readonly verb: readonly string[];
  readonly options: readonly string[];
  /** Files, directories and patterns. */
  readonly operands: readonly string[];
}

interface BareScriptOptions {
  /** Programs that are accepted. */
  readonly tools: readonly string[];
  /** Options with a value in the next word. */
  readonly valued: ReadonlySet<string>;
  /** Options that set the output format. They are dropped. */
  readonly answering: { readonly flags: readonly string[]; readonly valued: readonly string[] };
}

/** Programs with a subcommand. */
const subcommands: Readonly<Record<string, readonly string[]>> = { biome: ['lint', 'check', 'ci'] };

/**
 * Reads a script that runs one of these programs and nothing else: no other command, no variable, no pattern that the
 * shell would expand, no hook. `undefined` if the script is not that plain.
 */
export function readBareScript(
  manifest: PackageManifest,
  name: string,
  options: BareScriptOptions,
): BareScript | undefined {
  const [tool = '', ...rest] = wordsOf(manifest, name);
  if (!options.tools.includes(tool)) return undefined;
  const verbs = subcommands[tool] ?? [];
  const verb = rest.slice(0, verbs.length > 0 ? 1 : 0);
  if (verb.some((word) => !verbs.includes(word))) return undefined;
  // `biome ci` is `biome check` for CI, and takes fewer options.
  const said = verb.map((word) => (word === 'ci' ? 'check' : word));
  return { tool, verb: said, ...splitWords(rest.slice(verb.length), options) };
}

/** Returns the words of a script that is one plain command; none otherwise. */
function wordsOf({ scripts }: PackageManifest, name: string): readonly string[] {
  const line = scripts[name] ?? '';
  const isPlain = !/[;&|\n<>()$`\\]/.test(line) && findShellPatterns(line).size === 0;
  const hasHooks = Object.hasOwn(scripts, `pre${name}`) || Object.hasOwn(scripts, `post${name}`);
  const [words = [], ...others] = toPlainCommands(line);
  if (!isPlain || hasHooks || others.length > 0) return [];
  return words[0] === 'npx' ? words.slice(1) : words;
}

function splitWords(words: readonly string[], { valued, answering }: BareScriptOptions) {
  const [options, operands]: [string[], string[]] = [[], []];
  const isAnswer = (word: string) => [...answering.flags, ...answering.valued].includes(word.split('=')[0] ?? '');
  const isValued = (word = '') => valued.has(word) || answering.valued.includes(word);
  for (const [at, word] of words.entries()) {
    const before = words[at - 1];
    const isValue = isValued(before);
    if (isValue ? isAnswer(before ?? '') : isAnswer(word)) continue;
    (isValue || /^-./.test(word) ? options : operands).push(word);
  }
  return { options, operands };
}
