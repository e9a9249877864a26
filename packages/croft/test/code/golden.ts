import type { EditName } from './edit-source.ts';

/** A source of one language, what an outline of it has, and edits with their exact results. */
export interface GoldenLanguage {
  readonly path: string;
  readonly source: string;
  /** `kind name` of every definition, in order. */
  readonly outline: readonly string[];
  readonly edits: readonly GoldenEdit[];
}

export interface GoldenEdit {
  readonly edit: EditName;
  readonly symbol: string;
  readonly text?: string;
  /** The bytes that change, which are in the source once; everything else stays. */
  readonly from: string;
  readonly to: string;
}
