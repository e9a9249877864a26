import { callErrors } from './call-errors.ts';
import { fileErrors } from './file-errors.ts';
import { requestErrors } from './request-errors.ts';

/** Every error that a caller can see. A new one is one entry in one of these three. */
export const errorCatalog = { ...callErrors, ...fileErrors, ...requestErrors } as const;

export type ErrorCode = keyof typeof errorCatalog;
