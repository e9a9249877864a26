import { execFile } from 'node:child_process';

/** What a program prints. Throws when it fails. */
export function run(program: string, args: readonly string[], env: Record<string, string>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(program, args, { env, maxBuffer: 2 ** 28 }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  return promise;
}
