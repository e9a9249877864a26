import { writeFileSync } from 'node:fs';
import { makeDirectory, runCroft } from '../support/harness.ts';
import { type Account, type Platform, startPlatform } from '../support/servers/platform.ts';

export interface CliFixture extends AsyncDisposable {
  readonly platform: Platform;
  readonly account: Account;
  readonly own: ReturnType<typeof makeDirectory>;
  /** What says who the person is, for a process that a test starts by itself. */
  readonly env: Record<string, string>;
  run(
    args: readonly string[],
    more?: { cwd?: string; input?: string; env?: Record<string, string> },
  ): ReturnType<typeof runCroft>;
}

/** A server with an account, and a person with its key in the environment. */
export async function openCliFixture(args: readonly string[] = []): Promise<CliFixture> {
  const platform = await startPlatform(args);
  const account = await platform.newAccount('ann');
  const own = makeDirectory();
  writeFileSync(own.at('key'), `${account.secret}\n`);
  const env = { CROFT_SERVER: platform.url, CROFT_KEY_FILE: own.at('key'), XDG_CONFIG_HOME: own.at('none') };
  return {
    ...{ platform, account, own, env },
    run: (words, { env: more = {}, ...options } = {}) => runCroft(words, { ...options, env: { ...env, ...more } }),
    async [Symbol.asyncDispose]() {
      await platform[Symbol.asyncDispose]();
      own[Symbol.dispose]();
    },
  };
}
