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
    ...(around && { around: (call, work) => (call.access === 'read' ? around(call, work) : refuse()) }),
    openSandbox: refuse,
  };
}

function readOnlyFiles(files: Files): Files {
  return { ...files, write: refuse, change: refuse, upload: refuse, remove: refuse, rename: refuse };
}

async function refuse(): Promise<never> {
  throw new AppError('E_READ_ONLY', 'this runner lets nothing be changed: it was started with --readonly');
}
