import { AppError } from '@croft/protocol';

/** A tool call as a caller of another system wrote it, or as this system reads it. */
interface CombinedCall {
  readonly name: string;
  readonly rawInput: unknown;
}

type Given = Readonly<Record<string, unknown>>;

interface Meaning {
  readonly tool: string;
  /** Arguments that the name says. */
  readonly adds?: Given;
  /** Arguments that the other system always sends and that say nothing to this tool. */
  readonly drops?: readonly string[];
}

const position = ['line', 'character', 'col', 'column'];
const index = [...position, 'file', 'filePath', 'file_path'];
const ofFile: Meaning = { tool: 'outline', drops: position };
const callers: Meaning = { tool: 'calls' };
const callees: Meaning = { tool: 'calls', adds: { direction: 'out' } };

/** Operations of one tool for everything that a language server does, without signs and in lower case. */
const operations: Readonly<Record<string, Meaning>> = {
  ...{ gotodefinition: { tool: 'find_definition' }, definition: { tool: 'find_definition' } },
  ...{ findreferences: { tool: 'find_references' }, references: { tool: 'find_references' } },
  ...{ gotoimplementation: { tool: 'find_implementations' }, implementation: { tool: 'find_implementations' } },
  ...{ hover: { tool: 'hover' }, documentsymbol: ofFile, documentsymbols: ofFile, symbols: ofFile },
  ...{
    workspacesymbol: { tool: 'search_code', drops: index },
    workspacesymbols: { tool: 'search_code', drops: index },
  },
  ...{ preparecallhierarchy: callers, incomingcalls: callers, outgoingcalls: callees },
  ...{ diagnostics: { tool: 'diagnostics', drops: position }, rename: { tool: 'rename_symbol' } },
  ...{ codeaction: { tool: 'code_actions' }, codeactions: { tool: 'code_actions' } },
};

/** Names that stand for a tool together with an argument of it. */
const names: Readonly<Record<string, Meaning>> = { callees, outgoingCalls: callees };
const operationNames = new Set(['LSP', 'lsp']);

/** Whether a name stands for several tools, or for a tool with some of its arguments. */
export function isCombinedName(name: string): boolean {
  return operationNames.has(name) || Object.hasOwn(names, name);
}

/** Returns the call that is meant. `undefined`: a plain name, or an operation that is not known. */
export function readCombinedCall(name: string, rawInput: unknown): CombinedCall | undefined {
  const given: Given = typeof rawInput === 'object' && rawInput !== null ? { ...rawInput } : {};
  if (Object.hasOwn(names, name)) return toCall(names[name] as Meaning, given);
  if (!operationNames.has(name)) return undefined;
  const { operation, action, ...rest } = given;
  const plain = String(operation ?? action ?? '')
    .replace(/[^a-z]/gi, '')
    .toLowerCase();
  return Object.hasOwn(operations, plain) ? toCall(operations[plain] as Meaning, rest) : undefined;
}

export function unknownOperation(): AppError {
  const known = Object.keys(operations).join(', ');
  return new AppError('E_INVALID_INPUT', `operation is not valid: it is one of ${known} (capitals do not matter)`);
}

function toCall({ tool, adds = {}, drops = [] }: Meaning, { file, ...given }: Given): CombinedCall {
  const named = { ...given, ...(file !== undefined && { file_path: file }) };
  const kept = Object.entries(named).filter(([argument]) => !drops.includes(argument));
  return { name: tool, rawInput: { ...adds, ...Object.fromEntries(kept) } };
}
