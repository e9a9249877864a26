import { AppError } from '@croft/protocol';
import { runCommand } from './run-command.ts';
import type { Sandbox } from './sandbox.ts';

/** Variables that decide how programs run keep the sandbox's values. */
const reserved = /^(?:PATH|HOME|SHELL|USER|PWD|TERM|TMPDIR|IFS|ENV|(?:BASH|LC|LD)_.*)$/;
const setUpMs = 300_000;

/** Returns a sandbox whose commands also get these variables. */
export function withEnvironment(sandbox: Sandbox, variables: Readonly<Record<string, string>>): Sandbox {
  const given = Object.fromEntries(Object.entries(variables).filter(([name]) => !reserved.test(name)));
  if (Object.keys(given).length === 0) return sandbox;
  return {
    ...sandbox,
    start: (command) => sandbox.start({ ...command, environment: { ...given, ...command.environment } }),
  };
}

/**
 * Runs the set-up commands before the first command. If one fails, the sandbox is closed, because a partial set-up is
 * not usable.
 */
export async function setUpSandbox(sandbox: Sandbox, commands: readonly string[]): Promise<Sandbox> {
  try {
    await runSetUp(sandbox, commands);
    return sandbox;
  } catch (thrown) {
    await sandbox.close();
    throw thrown;
  }
}

/** Runs commands of the sandbox record. Throws `E_SANDBOX_UNAVAILABLE` at the first that fails. */
export async function runSetUp(sandbox: Sandbox, commands: readonly string[]): Promise<void> {
  for (const command of commands) {
    const signal = AbortSignal.timeout(setUpMs);
    const result = await runCommand(sandbox, { argv: ['bash', '-c', command], timeoutMs: setUpMs, signal });
    if (result.exitCode === 0) continue;
    const how = result.timedOut ? 'took too long' : `ended with ${result.exitCode ?? result.signal}`;
    throw new AppError('E_SANDBOX_UNAVAILABLE', `the set-up command of the sandbox ${how}: ${command}`, {
      details: { output: result.output.slice(-2000) },
      hint: 'Nothing else ran. Ask the owner of the sandbox record to correct onCreate or onResume; details.output has the end of its output.',
    });
  }
}
