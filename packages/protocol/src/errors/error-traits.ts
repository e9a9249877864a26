/** What every error of one code has in common. */
export interface ErrorTraits {
  readonly kind: string;
  readonly status: number;
  /** The next step, for a person or a model. */
  readonly hint: string;
  /** The message already has the next step, in words that programs compare. The hint is not added to the text. */
  readonly plain?: true;
}
