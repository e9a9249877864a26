import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** The one script of the site, which searches and switches the theme. Pages can be read without it. */
export async function bundleScript(): Promise<string> {
  const build = await rolldown({ input: join(import.meta.dirname, 'browser/site.ts'), platform: 'browser' });
  const { output } = await build.generate({ format: 'iife', minify: true });
  return output[0].code;
}
