import { closeSync, constants, openSync, writeSync } from 'node:fs';

/** Appends one JSON line at a time; a line is in the file when `write` returns. */
export function openEventFile(path: string) {
  const handle = open(path);
  return {
    write: (record: object): void => void writeSync(handle, `${JSON.stringify(record)}\n`),
    [Symbol.dispose]: () => closeSync(handle),
  };
}

function open(path: string): number {
  try {
    // A pipe that nobody reads would hold the program here, deaf to every signal. Asked first, it is an error.
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
