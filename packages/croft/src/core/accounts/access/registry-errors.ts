import { AppError } from '@croft/protocol';
import type { ExpectedVersion } from '../ports/registry.ts';

export function notFound(title: string): AppError {
  return new AppError('E_NOT_FOUND', `${title} not found`);
}

/** `id` is the record that has the name, if the caller may see it. */
export function alreadyExists(title: string, name: string, id: string | undefined): AppError {
  return new AppError('E_ALREADY_EXISTS', `${title} name already exists: ${name}`, { details: id ? { id } : {} });
}

export function overQuota(what: string, max: number): AppError {
  return new AppError('E_QUOTA', `this account already has the maximum of ${max} ${what}`, {
    details: { what, max },
  });
}

export function changedMeanwhile(title: string): AppError {
  return new AppError('E_PRECONDITION_FAILED', `${title} was changed by somebody else meanwhile`);
}

export function mustHaveVersion(title: string, version: number, expect: ExpectedVersion): void {
  if (expect.version === undefined || expect.version === version) return;
  throw new AppError(
    'E_PRECONDITION_FAILED',
    `${title} is at version ${version}, and the change is for version ${expect.version}`,
    { details: { version } },
  );
}
