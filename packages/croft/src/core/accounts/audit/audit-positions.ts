import { AppError } from '@croft/protocol';
import type { AuditSource } from './audit-source.ts';

/** A position in one or several chains, as clients carry it: `4711`, or `12-4711` for two chains. */
export function writePositions(positions: readonly number[]): string {
  return positions.join('-');
}

/** Returns `undefined` unless the text has one position for each of `chains` chains. */
export function readPositions(text: string, chains: number): number[] | undefined {
  const parts = text.split('-');
  if (parts.length !== chains || !parts.every((part) => /^\d{1,15}$/.test(part))) return undefined;
  return parts.map(Number);
}

export function mustReadPositions(text: string, chains: number): number[] {
  const positions = readPositions(text, chains);
  if (positions) return positions;
  throw new AppError('E_INVALID_INPUT', 'after must be `next` of another page of the same list', {
    details: { arguments: ['after'] },
  });
}

/** The newest rows of all chains. */
export function lastPositions(sources: readonly AuditSource[]): Promise<number[]> {
  return Promise.all(sources.map((source) => source.last()));
}
