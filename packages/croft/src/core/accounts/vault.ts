/** Keeps what is secret from whoever reads the database. */
export interface Vault {
  /**
   * `about` says what the text belongs to (`sandboxes/acct_…/sb_…`), and must be the same to open it: a sealed text
   * that was copied into another row does not open there.
   */
  seal(text: string, about: string): string;
  /** Throws `E_INTERNAL` for what was not sealed here, for this, with a key that is known. */
  open(sealed: string, about: string): string;
  /** Whether it is sealed with the newest key. */
  isCurrent(sealed: string): boolean;
  /** Of a token, peppered: the database alone does not let anybody guess it. */
  hash(token: string): string;
}
