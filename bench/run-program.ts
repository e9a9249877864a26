import { execFile } from 'node:child_process';

/** Returns the output of a program. Throws if it fails. */
export function run(program: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(program, args, { env, maxBuffer: 2 ** 28 }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  return promise;
}
