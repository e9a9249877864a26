/** A mistake in how the program was called or set, told in one line without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
