import { AppError } from '@croft/protocol';

const maxLength = 100;
const pattern = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Throws `E_INVALID_INPUT` for an invalid snapshot name. */
export function checkSnapshotName(name: string): void {
  if (name.length <= maxLength && pattern.test(name)) return;
  const shown = JSON.stringify(name.slice(0, maxLength));
  const rule = `letters, digits, "_", "." and "-", not beginning with "." or "-", at most ${maxLength}`;
  throw new AppError('E_INVALID_INPUT', `invalid snapshot name ${shown}: ${rule}`, {
    details: { arguments: ['name'] },
  });
}

/**
 * Returns a name such as `before-restore-20260131-235959-123`, which sorts by time and which nobody picks by chance.
 */
export function automaticSnapshotName(what: string, at: Date): string {
  const [date = '', time = ''] = at.toISOString().replace('Z', '').split('T');
  return `before-${what}-${date.replaceAll('-', '')}-${time.replaceAll(':', '').replace('.', '-')}`;
}
