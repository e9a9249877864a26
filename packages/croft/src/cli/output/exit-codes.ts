/** The exit codes of every command. A shell script can tell by the code what to do next. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  conflict: 5,
  approval: 6,
  unreachable: 7,
  /** 128 + SIGPIPE, as in shells. */
  readerGone: 141,
  // Used only by `croft exec`; all its other codes are those of the command.
  timeOver: 124,
  ownFailure: 125,
  notExecutable: 126,
  notInstalled: 127,
} as const;

/** The exit code of a program that a signal ended, as shells count: 130 for Ctrl-C. */
export function toSignalCode(stop: AbortSignal): number {
  return stop.reason instanceof Error && stop.reason.message === 'SIGTERM' ? 143 : 130;
}
