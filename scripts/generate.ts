import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toOpenApi } from '../packages/croft/src/rest/open-api/open-api.ts';
import { toConfigurationPage } from './generate/configuration-page.ts';
import { toControlNames } from './generate/control-names-header.ts';
import { toErrorsPage } from './generate/errors-page.ts';
import { toEventsPage } from './generate/events-page.ts';
import { toRestPage } from './generate/rest-page.ts';
import { toSdkPage } from './generate/sdk-page.ts';
import { toToolsPage } from './generate/tools-page.ts';

const root = join(import.meta.dirname, '..');

/** Everything that is made from the code. `--check` fails on what is not as the code would make it. */
const generated: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/tools.md': toToolsPage,
  'docs/configuration.md': toConfigurationPage,
  'docs/rest.md': toRestPage,
  'docs/errors.md': toErrorsPage,
  'docs/events.md': toEventsPage,
  'docs/sdk-reference.md': toSdkPage,
  'packages/croft/native/init/control-files/control-names.gen.h': toControlNames,
  'openapi.json': () => `${JSON.stringify(toOpenApi(), null, 2)}\n`,
};

const isCheck = process.argv.includes('--check');
for (const [path, make] of Object.entries(generated)) {
  const text = await make();
  const file = join(root, path);
  if (!isCheck) writeFileSync(file, text);
  else if (readIfPresent(file) !== text) report(path);
}

function report(path: string): void {
  console.error(`${path} is not what the code says; run: npm run generate`);
  process.exitCode = 1;
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
