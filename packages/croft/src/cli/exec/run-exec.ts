import { constants } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type Approval } from '@croft/protocol';
import type { CommandContext } from '../command.ts';
import { exitCodes } from '../output/exit-codes.ts';
import type { ExecEnding, ExecRequest } from './exec-request.ts';
import { createOutputWriter } from './output-writer.ts';
import { runWithInput } from './run-with-input.ts';

const lookMs = 500;

/** Runs a command, prints its output as it comes, and returns its exit code. Waits for a person who has to agree. */
export async function runExec(request: ExecRequest): Promise<number> {
  for (;;) {
    try {
      return report(await (request.hasInput ? runWithInput(request) : runOnce(request)), request);
    } catch (thrown) {
      const code = await recover(thrown, request);
      if (code !== undefined) return code;
    }
  }
}

/** The exit code of a command that did not start, or nothing once a person has decided: then the call is made again. */
async function recover(thrown: unknown, request: ExecRequest): Promise<number | undefined> {
  if (AppError.is(thrown) && thrown.code === 'E_COMMAND_NOT_STARTED') return reportNotStarted(thrown, request.terminal);
  if (!AppError.is(thrown) || thrown.code !== 'E_APPROVAL_REQUIRED') throw thrown;
  await untilDecided(thrown.details.approval as Approval, request);
  return undefined;
}

async function runOnce({ box, line, cwd, secrets, timeoutSeconds, terminal }: ExecRequest): Promise<ExecEnding> {
  const [cmd, ...args] = line;
  const input = { cmd, args, timeout_ms: timeoutSeconds * 1000, ...(cwd && { cwd }), ...(secrets && { secrets }) };
  const output = createOutputWriter(terminal);
  const following = { signal: terminal.stop, onBytes: output.write, color: output.hasColours };
  const ended = (await box.call('run_command', input, following)) as unknown as ExecEnding;
  await output.end(ended);
  return ended;
}

/** Prints the violations of the sandbox, and returns the exit code. */
function report(ended: ExecEnding, { timeoutSeconds, terminal }: ExecRequest): number {
  for (const { next, target } of ended.denials) terminal.stderr.write(`croft: refused ${target}. ${next}\n`);
  return toExitCode(ended, timeoutSeconds, terminal);
}

function toExitCode({ exitCode, signal, timedOut }: ExecEnding, seconds: number, { stderr }: CommandContext): number {
  if (timedOut) stderr.write(`croft: the command was ended after ${seconds} seconds; see --timeout\n`);
  if (timedOut) return exitCodes.timeOver;
  return exitCode ?? 128 + (constants.signals[(signal ?? 'SIGKILL') as NodeJS.Signals] ?? constants.signals.SIGKILL);
}

function reportNotStarted(error: AppError, { stderr }: CommandContext): number {
  stderr.write(`croft: ${error.message}\n`);
  return error.details.errno === constants.errno.EACCES ? exitCodes.notExecutable : exitCodes.notInstalled;
}

/** Tells the person which approval the command waits for. The call, made again, shows how it was decided. */
async function untilDecided({ approvalId, expiresAt }: Approval, { client, terminal }: ExecRequest): Promise<void> {
  const { stderr, stop } = terminal;
  stderr.write(`croft: waits for an approval; decide it with: croft approvals approve ${approvalId}\n`);
  while (Date.now() < Date.parse(expiresAt)) {
    await pause(lookMs, undefined, { signal: stop });
    const { state } = await client.approvals.get(approvalId);
    if (state !== 'pending') return;
  }
}
