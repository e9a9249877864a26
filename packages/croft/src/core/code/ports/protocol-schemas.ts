import { z } from 'zod';

/**
 * The parts of the Language Server Protocol that Croft reads. Servers are hostile: nothing else of an answer is used.
 */
const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const Position = z.object({ line: count, character: count });
export const Range = z.object({ start: Position, end: Position });
export type Range = z.output<typeof Range>;
export type Position = z.output<typeof Position>;

const Location = z.object({ uri: z.string(), range: Range });
const LocationLink = z.object({ targetUri: z.string(), targetSelectionRange: Range, targetRange: Range });
export type Location = z.output<typeof Location>;

/** One place, a list of places, a list of links, or nothing. */
export const Locations = z
  .union([z.array(z.union([Location, LocationLink])), Location, z.null(), z.undefined()])
  .transform((found): Location[] => {
    const all = Array.isArray(found) ? found : found ? [found] : [];
    return all.map((one) => ('uri' in one ? one : { uri: one.targetUri, range: one.targetSelectionRange }));
  });

const baseSymbol = z.object({ name: z.string(), kind: z.int(), detail: z.string().optional() });

export interface DocumentSymbol extends z.output<typeof baseSymbol> {
  readonly range: Range;
  readonly selectionRange: Range;
  readonly children?: readonly DocumentSymbol[] | undefined;
}

const DocumentSymbol: z.ZodType<DocumentSymbol> = baseSymbol.extend({
  range: Range,
  selectionRange: Range,
  get children() {
    return z.array(DocumentSymbol).optional();
  },
});
const SymbolInformation = baseSymbol.extend({ location: Location, containerName: z.string().nullish() });
export const DocumentSymbols = z.union([z.array(DocumentSymbol), z.array(SymbolInformation), z.null()]);

const Marked = z.union([z.string(), z.object({ value: z.string() })]);
export const Hover = z.object({ contents: z.union([Marked, z.array(Marked)]) }).nullable();
export type Hover = z.output<typeof Hover>;

export const Diagnostic = z.object({
  range: Range,
  severity: z.int().min(1).max(4).optional(),
  code: z.union([z.string(), z.number()]).optional(),
  source: z.string().optional(),
  message: z.string(),
});
export type Diagnostic = z.output<typeof Diagnostic>;
export const DiagnosticReport = z.object({ kind: z.string(), items: z.array(Diagnostic).optional() });

export const CallItem = z.looseObject({
  name: z.string(),
  kind: z.int(),
  uri: z.string(),
  range: Range,
  selectionRange: Range,
});
export type CallItem = z.output<typeof CallItem>;
export const CallItems = z.array(CallItem).nullable();
export const IncomingCalls = z.array(z.object({ from: CallItem, fromRanges: z.array(Range) })).nullable();
export const OutgoingCalls = z.array(z.object({ to: CallItem, fromRanges: z.array(Range) })).nullable();

const TextEdit = z.object({ range: Range, newText: z.string() });
export type TextEdit = z.output<typeof TextEdit>;
const DocumentEdit = z.object({ textDocument: z.object({ uri: z.string() }), edits: z.array(TextEdit) });
const FileOperation = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create'), uri: z.string() }),
  z.object({ kind: z.literal('rename'), oldUri: z.string(), newUri: z.string() }),
  z.object({ kind: z.literal('delete'), uri: z.string() }),
]);
export const WorkspaceEdit = z.object({
  changes: z.record(z.string(), z.array(TextEdit)).nullish(),
  documentChanges: z.array(z.union([DocumentEdit, FileOperation])).nullish(),
});
export type WorkspaceEdit = z.output<typeof WorkspaceEdit>;

export const CodeAction = z.looseObject({
  title: z.string(),
  kind: z.string().optional(),
  edit: WorkspaceEdit.optional(),
  command: z.unknown().optional(),
  disabled: z.unknown().optional(),
});
export type CodeAction = z.output<typeof CodeAction>;
export const CodeActions = z.array(CodeAction).nullable();
