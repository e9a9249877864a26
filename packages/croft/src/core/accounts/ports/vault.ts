/** Seals secrets, so that a reader of the database cannot see them. */
export interface Vault {
  /**
   * `about` names what the text belongs to (`sandboxes/acct_…/sb_…`). The same value is needed to open it: a sealed
   * text that was copied into another row does not open there.
   */
  seal(text: string, about: string): string;
  /** Throws `E_INTERNAL` for a text that was not sealed for this `about` with a known key. */
  open(sealed: string, about: string): string;
  /** Whether the text is sealed with the newest key. */
  isCurrent(sealed: string): boolean;
  /** Peppered hash of a token: it cannot be guessed from the database alone. */
  hash(token: string): string;
}
