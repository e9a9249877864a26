import { z } from 'zod';
import { type ErrorCode, errorCatalog } from './error-catalog.ts';
import type { ErrorTraits } from './error-traits.ts';

export const ErrorBody = z.object({
  code: z.enum(Object.keys(errorCatalog) as [ErrorCode]),
  kind: z.string(),
  message: z.string(),
  hint: z.string(),
  details: z.record(z.string(), z.unknown()),
});
export type ErrorBody = z.output<typeof ErrorBody>;

export const ErrorEnvelope = z.object({ error: ErrorBody });

export interface AppErrorOptions {
  readonly details?: Record<string, unknown>;
  readonly cause?: unknown;
  readonly hint?: string | undefined;
}

/** `CroftError` is the same error as programs with the SDK get it. */
const names: ReadonlySet<string> = new Set(['AppError', 'CroftError']);

/** The only error thrown on purpose. Any other error that reaches a face is a bug and becomes `E_INTERNAL`. */
export class AppError extends Error {
  override readonly name: string = 'AppError';
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;
  /** The next step in this case, if the hint of the catalogue for this code does not fit. */
  readonly ownHint: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.ownHint = options.hint;
  }

  get traits(): ErrorTraits {
    return errorCatalog[this.code];
  }

  /** The text for a person or a model: the message and, unless the message has it, the next step. */
  get text(): string {
    return this.traits.plain && this.ownHint === undefined ? this.message : `${this.message}\nNext: ${this.hint}`;
  }

  get hint(): string {
    return this.ownHint ?? this.traits.hint;
  }

  toJSON(): ErrorBody {
    const { code, message, hint, details } = this;
    return { code, kind: this.traits.kind, message, hint, details };
  }

  /** Compares the name instead of using `instanceof`, so that it works if two copies of this package are loaded. */
  static is(value: unknown): value is AppError {
    return value instanceof Error && names.has(value.name);
  }

  static from(thrown: unknown): AppError {
    return AppError.is(thrown) ? thrown : new AppError('E_INTERNAL', 'unexpected failure', { cause: thrown });
  }
}
