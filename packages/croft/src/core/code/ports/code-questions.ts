import type { CodeDiagnostic, SourceLocation } from './code-answers.ts';
import type { ServerUse } from './language-servers.ts';
import type { Position, TextEdit } from './protocol-schemas.ts';

/** Names the symbol that a question is about, as in `symbolArguments`. */
export interface SymbolQuestion {
  readonly symbol?: string | undefined;
  readonly file_path?: string | undefined;
  readonly line?: number | undefined;
  readonly col?: number | undefined;
}

/** A name in a file, about which a server can be asked. */
export interface LocatedSymbol {
  /** The real path from the root. */
  readonly path: string;
  readonly word: string;
  readonly position: Position;
}

export interface DefinitionsQuestion extends SymbolQuestion {
  /** `implementations` are never searched by text. */
  readonly of: 'definitions' | 'implementations';
  readonly withBody: boolean;
}

export interface FoundLocations {
  /** `path:line:col` of the question, or the name. */
  readonly at: string;
  readonly items: readonly SourceLocation[];
  readonly precision: 'server' | 'text';
  readonly complete: boolean;
  readonly notes: readonly string[];
}

export interface ReferencesQuestion extends SymbolQuestion {
  readonly withDeclaration: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Some of the references, sorted by path and position. */
export interface ReferencesPage extends FoundLocations {
  readonly total: number;
  /** How many come before this page. */
  readonly start: number;
  /** The cursor of the next page. Absent: this is the last one. */
  readonly next?: string | undefined;
}

export interface SymbolDescription {
  readonly path: string;
  readonly line: number;
  readonly col: number;
  readonly content: string;
}

export interface CallsQuestion extends SymbolQuestion {
  readonly direction: 'in' | 'out';
  readonly depth: number;
}

/** A function that calls, or is called. */
export interface CallNode {
  readonly path: string;
  readonly line: number;
  readonly col: number;
  readonly name: string;
  readonly kind: string;
  readonly depth: number;
  /** True if the function was listed before: its own calls are not listed again. */
  readonly isRepeated: boolean;
  readonly isExternal: boolean;
}

export interface FoundCalls {
  readonly target: LocatedSymbol;
  readonly complete: boolean;
  readonly nodes: readonly CallNode[];
}

export interface DiagnosticsQuestion {
  readonly path: string;
  /** A server that does not run is not started. */
  readonly onlyRunning?: boolean | undefined;
}

export interface FileDiagnostics {
  /** The real path from the root; the caller's own path if no server was asked. */
  readonly path: string;
  /** False: nobody was asked, because the server does not run. */
  readonly isAsked: boolean;
  /** Absent: the server has not told them in time. */
  readonly items?: readonly CodeDiagnostic[] | undefined;
}

/** The changes that a server proposes, by paths of the workspace. */
export interface FileEdits {
  readonly files: readonly { readonly path: string; readonly edits: readonly TextEdit[] }[];
  readonly moves: readonly FileMove[];
}

export interface FileMove {
  readonly from: string;
  readonly to: string;
}

export interface RenameQuestion extends SymbolQuestion {
  readonly newName: string;
}

export interface RenameEdits extends FileEdits {
  readonly target: LocatedSymbol;
  readonly complete: boolean;
}

/** Lines of a file for which changes are proposed. */
export interface ActionQuestion {
  readonly file_path: string;
  readonly line: number;
  readonly end_line?: number | undefined;
  readonly kind?: string | undefined;
}

/** A change that a server proposes. Without edits it cannot be applied: it needs a command of the server. */
export interface ProposedAction {
  readonly title: string;
  readonly kind: string;
  readonly edits?: FileEdits | undefined;
}

/**
 * Questions about the code of a workspace. They are answered where the files and the language servers are: on this
 * machine, or on the runner of the workspace. Every answer is about the files as they are on the disk, or throws
 * `E_STALE`. Without a server, the first two are answered by text and the others throw `E_NO_SERVER`.
 */
export interface CodeQuestions {
  definitions(question: DefinitionsQuestion, use: ServerUse): Promise<FoundLocations>;
  references(question: ReferencesQuestion, use: ServerUse): Promise<ReferencesPage>;
  hover(question: SymbolQuestion, use: ServerUse): Promise<SymbolDescription>;
  calls(question: CallsQuestion, use: ServerUse): Promise<FoundCalls>;
  diagnostics(question: DiagnosticsQuestion, use: ServerUse): Promise<FileDiagnostics>;
  /** The edits that a rename of a symbol needs. */
  rename(question: RenameQuestion, use: ServerUse): Promise<RenameEdits>;
  /** The edits that other files need when a file or a directory is moved. */
  move(question: FileMove, use: ServerUse): Promise<FileEdits>;
  actions(question: ActionQuestion, use: ServerUse): Promise<readonly ProposedAction[]>;
}
