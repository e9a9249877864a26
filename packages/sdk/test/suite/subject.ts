import type { Croft } from '../../src/index.ts';

/** What a taught command does on the fake. A real sandbox runs the command itself. */
export interface TaughtCommand {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
  readonly writes?: Readonly<Record<string, string>>;
  /** Goes on until it is ended. */
  readonly hangs?: true;
}

/** One server that the suite runs on. */
export interface Subject extends AsyncDisposable {
  readonly croft: Croft;
  /** Says what a command does, where no shell runs it. */
  teach(command: string, does: TaughtCommand): void;
}
