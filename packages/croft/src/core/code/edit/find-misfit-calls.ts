import type { ToolContext } from '../../tools/tool.ts';
import { type CodeReference, findTextReferences } from '../symbols/text-references.ts';

/** How many arguments a function takes. */
interface ArgumentCount {
  readonly least: number;
  readonly most: number;
}

interface ChangedSignature {
  readonly path: string;
  readonly name: string;
  readonly signature: string;
  /** The lines of the definition itself, which are not searched for calls. */
  readonly startLine: number;
  readonly endLine: number;
}

const steps: Readonly<Record<string, number>> = { '(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1 };
const generics = /<[^<>()]*>/g;

/**
 * Finds calls with more or fewer arguments than a new signature takes. By text: calls that go over several lines, or
 * spread a list, are left out.
 */
export async function findMisfitCalls(
  { path, name, signature, ...lines }: ChangedSignature,
  context: Pick<ToolContext, 'workspace' | 'signal'>,
): Promise<CodeReference[]> {
  const takes = countParameters(signature, name);
  if (!takes) return [];
  const found = await findTextReferences({ path, symbol: { name, ...lines } }, context);
  return found.filter(({ text }) => isMisfit(text, name, takes));
}

/** Counts the parameters of a signature. `undefined`: it has no list of parameters after the name. */
export function countParameters(signature: string, name: string): ArgumentCount | undefined {
  // Type arguments have commas of their own.
  const plainTypes = signature.replace(generics, '').replace(generics, '');
  const parameters = listsAfter(plainTypes, name)[0]?.filter((each) => !isReceiver(each));
  if (!parameters) return undefined;
  const isOpen = parameters.some((each) => /^(?:\*|\.\.\.|params\b)|\.\.\./.test(each));
  const plain = parameters.filter((each) => !/^[*/&]*$/.test(each));
  const required = plain.filter((each) => !/=|^[\w$]+\?|\.\.\.|^\*/.test(each));
  return { least: required.length, most: isOpen ? Number.POSITIVE_INFINITY : plain.length };
}

/** A parameter that the language passes by itself. */
function isReceiver(parameter: string): boolean {
  return /^(?:self|cls|this|(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?self)\s*(?::|$)/.test(parameter);
}

function isMisfit(text: string, name: string, { least, most }: ArgumentCount): boolean {
  if (isDefinition(text, name)) return false;
  return listsAfter(text, name).some((args) => {
    const isSpread = args.some((each) => /^(?:\.\.\.|\*)|\.\.\.$/.test(each));
    return !isSpread && (args.length < least || args.length > most);
  });
}

function isDefinition(text: string, name: string): boolean {
  const before = text.slice(0, text.search(toCallPattern(name)));
  return /\b(?:function\*?|def|func|fn|fun)\s+(?:\([^)]*\)\s*)?$/.test(before);
}

/** The lists in parentheses that follow a name, each split at its commas. */
function listsAfter(text: string, name: string): string[][] {
  return [...text.matchAll(toCallPattern(name))].flatMap(({ 0: found, index }) => {
    const list = readList(text.slice(index + found.length));
    return list ? [list] : [];
  });
}

function toCallPattern(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, '\\$&')}\\s*(?:<[^()]{0,100}>)?\\(`, 'g');
}

/** Matches string literals, brackets, commas, and the text between them. A quote without an end stands alone. */
const piece = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[()[\]{},]|[^"'`()[\]{},]+|./gs;

/** Reads up to the closing parenthesis. `undefined`: the text ends before it. */
function readList(text: string): string[] | undefined {
  const items = [''];
  let depth = 0;
  for (const [part] of text.matchAll(piece)) {
    if (depth === 0 && part === ')') return items.map((item) => item.trim()).filter((item) => item !== '');
    if (depth === 0 && part === ',') items.push('');
    else items.push(`${items.pop()}${part}`);
    depth += steps[part] ?? 0;
  }
  return undefined;
}
