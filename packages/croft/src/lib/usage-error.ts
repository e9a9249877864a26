/** A mistake in the arguments or settings of the program. It is printed as one line without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
