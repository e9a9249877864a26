import { z } from 'zod';
import { toCallSeconds } from './call-seconds.ts';
import type { CallOptions, ToolCaller } from './tool-caller.ts';

export interface TestOptions extends CallOptions {
  /** Runs only these test files; paths from the root. */
  readonly files?: readonly string[] | undefined;
  /** Runs only tests with this text in their name. */
  readonly name?: string | undefined;
  /** The directory of the project. */
  readonly path?: string | undefined;
  /** Seconds, at most 280. Default: 280. */
  readonly timeout?: number | undefined;
}

const Failure = z.looseObject({ name: z.string(), message: z.string() });
const Report = z.object({
  state: z.string(),
  /** True if all tests ran and passed. A selection of tests is never green. */
  green: z.boolean(),
  runs: z.array(
    z.looseObject({
      state: z.string(),
      summary: z.string(),
      exitCode: z.int().nullable(),
      timedOut: z.boolean(),
      failures: z.array(Failure),
      output: z.string().optional(),
    }),
  ),
});
export type TestReport = z.output<typeof Report>;

export async function runTests(
  caller: ToolCaller,
  { signal, timeout, ...wanted }: TestOptions = {},
): Promise<TestReport> {
  const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const input = { ...given, timeout: Math.ceil(toCallSeconds(timeout)) };
  return caller.call('run_tests', input, Report, { signal });
}
