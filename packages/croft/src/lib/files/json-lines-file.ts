import { closeSync, constants, openSync, writeSync } from 'node:fs';

export type JsonLinesFile = ReturnType<typeof openJsonLinesFile>;

/** Appends one JSON line at a time; a line is in the file when `write` returns. */
export function openJsonLinesFile(path: string) {
  let handle = open(path);
  return {
    path,
    write: (record: object): void => void writeSync(handle, `${JSON.stringify(record)}\n`),
    /**
     * Opens the path again after log rotation has renamed the file. All earlier lines are in the old file, all later
     * lines in the new one. Throws when the path cannot be opened; the old file then stays in use.
     */
    reopen(): void {
      const before = handle;
      handle = open(path);
      closeSync(before);
    },
    [Symbol.dispose]: () => closeSync(handle),
  };
}

function open(path: string): number {
  try {
    // Opening a pipe without a reader would block the program and every signal handler. O_NONBLOCK makes that an error
    // instead.
    const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
    const asked = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
    const handle = openSync(path, 'a');
    closeSync(asked);
    return handle;
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? cause.code : cause;
    throw new Error(`events cannot be written to ${path}: ${reason}`, { cause });
  }
}
