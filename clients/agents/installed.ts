import { existsSync } from 'node:fs';
import { join } from 'node:path';

const modules = join(import.meta.dirname, '../node_modules');
const platform = `${process.platform}-${process.arch}`;

const codexTarget = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;

/**
 * Scripts of packages do not run here, so programs are taken from the packages of the platform. The `baseline` of opencode
 * runs on processors without AVX2 too.
 */
const programs = {
  'claude-code': [`@anthropic-ai/claude-code-${platform}/claude`],
  codex: [`@openai/codex-${platform}/vendor/${codexTarget}/bin/codex`],
  'gemini-cli': ['@google/gemini-cli/bundle/gemini.js'],
  opencode: [`opencode-${platform}-baseline/bin/opencode`, `opencode-${platform}/bin/opencode`],
};

export type Program = keyof typeof programs;

/** How the program is started. Throws where npm has installed none. */
export function installed(name: Program): string[] {
  const path = programs[name].map((one) => join(modules, one)).find((one) => existsSync(one));
  if (path === undefined) throw new Error(`npm has installed no ${name} for ${platform}`);
  return path.endsWith('.js') ? [process.execPath, path] : [path];
}
