import { AppError } from '@croft/protocol';
import type { Files } from '../files.ts';
import type { OfferedWorkspace } from './offer.ts';

/** A workspace of a machine whose operator lets nothing be changed: whatever a server asks. */
export function asReadOnly(offered: OfferedWorkspace): OfferedWorkspace {
  const { root, withSearchBox, watch, around } = offered;
  return {
    ...{ root, withSearchBox, access: 'read-only', files: readOnlyFiles(offered.files) },
    ...(watch && { watch }),
    // What others committed is taken in all the same.
    ...(around && { around: (call, work) => (call.access === 'read' ? around(call, work) : refuseChange()) }),
    openSandbox: refuseChange,
  };
}

const refused = {
  write: refuseChange,
  change: refuseChange,
  upload: refuseChange,
  remove: refuseChange,
  rename: refuseChange,
};

function readOnlyFiles(files: Files): Files {
  return { ...files, ...refused };
}

export async function refuseChange(): Promise<never> {
  throw new AppError('E_READ_ONLY', 'this runner lets nothing be changed: it was started with --readonly');
}
