import { AppError } from '@croft/protocol';
import type { Files } from '../files/files.ts';
import type { RunnerWorkspace } from './runner-workspace.ts';

/** Wraps a workspace of a read-only runner: refuses every change, whatever a server asks. */
export function asReadOnly(workspace: RunnerWorkspace): RunnerWorkspace {
  const { root, withSearchBox, watch, wrapCall, code, codeIndex } = workspace;
  return {
    ...{ root, withSearchBox, access: 'read-only', files: readOnlyFiles(workspace.files), code, codeIndex },
    ...(watch && { watch }),
    // Changes that others committed are still applied.
    ...(wrapCall && { wrapCall: (call, work) => (call.access === 'read' ? wrapCall(call, work) : refuseChange()) }),
    openSandbox: refuseChange,
  };
}

const refusingMethods = {
  write: refuseChange,
  change: refuseChange,
  upload: refuseChange,
  remove: refuseChange,
  rename: refuseChange,
};

function readOnlyFiles(files: Files): Files {
  return { ...files, ...refusingMethods };
}

export async function refuseChange(): Promise<never> {
  throw new AppError('E_READ_ONLY', 'this runner refuses all changes: it was started with --readonly', {
    hint: 'Nothing was done. Read the files here, or ask the operator of the runner to start it without --readonly.',
  });
}
