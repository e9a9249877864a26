import type { CheckOutput } from '../project-tools/test-runner.ts';

/**
 * Explains a missing .NET SDK: the program `dotnet` may exist without an SDK, or without the version that a project
 * requires.
 */
export function findMissingDotnetSdk({ stderr, exitCode }: CheckOutput): string | undefined {
  if (exitCode === 0) return undefined;
  const why = stderr.match(/^ {1,10}((?:No|A compatible) \.NET SDKs? .{0,20}found\.)$/m)?.[1];
  const asked = stderr.match(/^Requested SDK version: .{1,100}$/m)?.[0];
  return why && [why, asked].filter((part) => part !== undefined).join(' ');
}
