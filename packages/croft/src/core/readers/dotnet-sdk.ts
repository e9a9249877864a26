import type { CheckOutput } from '../checks/test-runner.ts';

/** The program `dotnet` may be there without what builds and tests, or without the version that a project asks for. */
export function findMissingSdk({ stderr, exitCode }: CheckOutput): string | undefined {
  if (exitCode === 0) return undefined;
  const why = stderr.match(/^ {1,10}((?:No|A compatible) \.NET SDKs? .{0,20}found\.)$/m)?.[1];
  const asked = stderr.match(/^Requested SDK version: .{1,100}$/m)?.[0];
  return why && [why, asked].filter((part) => part !== undefined).join(' ');
}
